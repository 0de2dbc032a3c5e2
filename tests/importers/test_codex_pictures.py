"""What of a rollout's content is a picture, and what is left as it is."""

import base64
from typing import Any

import pytest

from holdfast.importers.codex.content import media
from holdfast.model.message import Media

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAC0lEQVR4nGNgQAYAAA4AAamRc7EAAAAASUVORK5CYII="
)
WRITTEN = base64.b64encode(PIXEL).decode()
INSIDE = f"data:image/png;base64,{WRITTEN}"
WHOLE = Media(type="image/png", data=PIXEL, width=2, height=3)
LINKED = "https://example.com/a.png"


@pytest.mark.parametrize(
    ("item", "found"),
    [
        ({"type": "input_image", "image_url": INSIDE}, WHOLE),
        ({"type": "image", "image_url": INSIDE}, WHOLE),
        ({"type": "image", "image_url": {"url": INSIDE}}, WHOLE),
        ({"type": "image", "image_url": f"data:;base64,{WRITTEN}"}, WHOLE),
        ({"type": "image", "image_url": f"data:image/png;a=b;base64,{WRITTEN}"}, WHOLE),
        ({"type": "image", "image_url": LINKED}, Media(type="image/png", url=LINKED)),
        ({"type": "image", "image_url": "http://a/b"}, Media(type="image/png", url="http://a/b")),
        ({"type": "input_text", "image_url": INSIDE}, None),
        ({"image_url": INSIDE}, None),
        ({"type": "image"}, None),
        ({"type": "image", "image_url": 7}, None),
        ({"type": "image", "image_url": "ftp://a/b"}, None),
        ({"type": "image", "image_url": f"x{INSIDE}"}, None),
        ({"type": "image", "image_url": f"data:image/png,{WRITTEN}"}, None),
        ({"type": "image", "image_url": f"data:image/png;base64,*{WRITTEN}"}, None),
        ({"type": "image", "image_url": f"data:image/png;base64,{WRITTEN[1:]}"}, None),
        ({"type": "image", "image_url": "data:image/png;base64,aGlkZGVu"}, None),
        ({"type": "image", "image_url": "data:image/x;base64,aGk="}, Media("image/x", b"hi")),
        ({"type": "image", "image_url": "data:image/png;base64,"}, None),
    ],
)
def test_a_picture_is_what_its_bytes_or_its_address_say(item: Any, found: Media | None) -> None:
    assert media(item) == found
