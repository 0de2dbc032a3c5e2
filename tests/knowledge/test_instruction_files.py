"""Which instruction files load, when, in which order, and which do not act."""

import os
from pathlib import Path

import pytest

from holdfast.core.knowledge.instructions import told
from holdfast.core.tokens.estimate import estimate
from tests.knowledge.projects import approve, loaded, project, reader, states, written


@pytest.mark.seed("000", 97, 98, 99, 100, 101, 105, 183, 184, 185, 186, 187)
def test_six_levels_load_from_the_broadest_to_the_most_specific(tmp_path: Path) -> None:
    root = project(tmp_path / "repo", {
        "CLAUDE.local.md": "local", "CLAUDE.md": "claude", "AGENTS.md": "agents",
        "HOLDFAST.md": "own", ".holdfast/HOLDFAST.md": "hidden", ".claude/CLAUDE.md": "dot",
        ".claude/rules/style.md": "style", ".holdfast/rules/tests.md": "tests",
    })  # fmt: skip
    managed = written(tmp_path / "etc", {"HOLDFAST.md": "managed"})
    user = written(tmp_path / "config", {"HOLDFAST.md": "user", "rules/r.md": "user rule"})
    made = reader(root, "always", managed=managed, user=[user])
    found = made.files()
    assert [one.text for one in found] == [
        "managed", "own", "hidden", "agents", "claude", "dot", "tests", "style",
        "user", "user rule", "local",
    ]  # fmt: skip
    text, gone = told(found, 10_000)
    assert text.index("managed") < text.index("agents") < text.index("style")
    assert text.index("style") < text.index("\n\nuser") < text.index("\n\nlocal")
    assert not gone


@pytest.mark.seed("000", 103, 104, 190)
def test_files_above_load_at_once_and_those_below_once_something_there_is_touched(
    tmp_path: Path,
) -> None:
    root = project(tmp_path / "repo", {
        "AGENTS.md": "root", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b", "a/b/c/CLAUDE.md": "c",
        "a/b/d/AGENTS.md": "d", "other/AGENTS.md": "other",
    })  # fmt: skip
    written(tmp_path, {"AGENTS.md": "outside of the repository"})
    made = reader(root / "a", "always")
    assert loaded(made.files()) == ["AGENTS.md", "a/AGENTS.md"]
    made.touch("b/c/x.py")
    found = made.files()
    assert loaded(found) == ["AGENTS.md", "a/AGENTS.md", "a/b/AGENTS.md", "a/b/c/CLAUDE.md"]
    assert {one.path: one.why for one in found}["a/b/AGENTS.md"] == "a/b/c/x.py was touched"


@pytest.mark.seed("000", 114, 191)
def test_a_rule_with_paths_loads_once_a_path_like_them_is_touched(tmp_path: Path) -> None:
    rule = '---\npaths: ["src/**/*.ts", "*.tsx"]\n---\nUse tabs.'
    root = project(tmp_path, {".claude/rules/ts.md": rule, ".claude/rules/all.md": "Be brief."})
    made = reader(root, "always")
    assert states(made.files()) == {
        ".claude/rules/all.md": "loaded", ".claude/rules/ts.md": "waiting"
    }  # fmt: skip
    made.touch("src/x.py")
    assert loaded(made.files()) == [".claude/rules/all.md"]
    made.touch("src/deep/x.ts")
    found = made.files()
    assert loaded(found) == [".claude/rules/all.md", ".claude/rules/ts.md"]
    assert found[1].text == "Use tabs."
    assert found[1].why == "src/deep/x.ts was touched"
    assert loaded(made.files()) == [".claude/rules/all.md", ".claude/rules/ts.md"]


def test_the_globs_of_a_rule_below_are_relative_to_the_directory_that_has_it(
    tmp_path: Path,
) -> None:
    rule = "---\npaths: src/*.c\n---\nx"
    made = reader(project(tmp_path, {"lib/.claude/rules/c.md": rule}), "always")
    made.touch("src/a.c")
    assert loaded(made.files()) == []
    made.touch("lib/src/a.c")
    assert loaded(made.files()) == ["lib/.claude/rules/c.md"]


@pytest.mark.seed("000", 115)
def test_rules_are_found_in_subdirectories_and_through_links_that_stay_inside(
    tmp_path: Path,
) -> None:
    root = project(tmp_path, {
        ".claude/rules/a/b/deep.md": "deep", "shared/x.md": "shared", "one.md": "linked",
        ".claude/rules/notes.txt": "no rule",
    })  # fmt: skip
    (root / ".claude/rules/shared").symlink_to("../../shared")
    (root / ".claude/rules/linked.md").symlink_to("../../one.md")
    (root / ".claude/rules/circle").symlink_to(".")
    (root / ".claude/rules/text").symlink_to("../../one.md")
    assert set(loaded(reader(root, "always").files())) == {
        ".claude/rules/a/b/deep.md", "shared/x.md", "one.md"
    }  # fmt: skip


@pytest.mark.seed("000", 111)
def test_imports_are_read_behind_the_file_that_names_them(tmp_path: Path) -> None:
    root = project(tmp_path, {
        "AGENTS.md": "Read @docs/style.md and @gone.md, not `@docs/no.md`.",
        "docs/style.md": "See @more.md.", "docs/more.md": "more", "docs/no.md": "no",
    })  # fmt: skip
    found = reader(root, "always").files()
    assert loaded(found) == ["AGENTS.md", "docs/style.md", "docs/more.md"]
    assert {one.path: one.why for one in found if one.importer} == {
        "docs/style.md": "AGENTS.md imports it", "docs/more.md": "docs/style.md imports it",
        "gone.md": "AGENTS.md imports it, and there is no such file",
    }  # fmt: skip


@pytest.mark.seed("000", 112)
def test_imports_go_five_deep_and_no_deeper(tmp_path: Path) -> None:
    files = {f"{n}.md": f"@{n + 1}.md" for n in range(9)}
    root = project(tmp_path, {"AGENTS.md": "@0.md", **files})
    found = reader(root, "always").files()
    assert loaded(found) == ["AGENTS.md", *(f"{n}.md" for n in range(5))]
    assert "more than 5 imports deep" in next(o.why for o in found if o.path.endswith("5.md"))


def test_a_cycle_of_imports_ends_and_fan_out_is_bounded(tmp_path: Path) -> None:
    root = project(tmp_path, {
        "AGENTS.md": "@a.md @AGENTS.md", "a.md": "@b.md @AGENTS.md", "b.md": "@a.md",
        "CLAUDE.md": " ".join(f"@f{n}.md" for n in range(300)),
        **{f"f{n}.md": f"{n}" for n in range(300)},
    })  # fmt: skip
    found = reader(root, "always").files()
    assert loaded(found)[:3] == ["AGENTS.md", "a.md", "b.md"]
    assert len(loaded(found)) == 4 + 50
    assert any("only the first 50 are read" in one.why for one in found)


def test_there_are_at_most_two_hundred_files(tmp_path: Path) -> None:
    rules = {f".claude/rules/{n:03}.md": f"rule {n}" for n in range(250)}
    found = reader(project(tmp_path, rules), "always").files()
    assert len(loaded(found)) == 200
    assert any("more than 200 instruction files" in one.why for one in found)


@pytest.mark.seed("000", 113)
def test_nothing_of_a_project_acts_before_it_is_approved(tmp_path: Path) -> None:
    root = project(tmp_path, {"AGENTS.md": "@a.md", "a.md": "a", ".claude/rules/r.md": "r",
                              "CLAUDE.local.md": "l"})  # fmt: skip
    made = reader(root)
    assert set(states(made.files()).values()) == {"untrusted"}
    assert told(made.files(), 1000) == ("", ())
    approve(made, "AGENTS.md", "CLAUDE.local.md")
    assert states(made.files()) == {
        "AGENTS.md": "loaded", "a.md": "untrusted", ".claude/rules/r.md": "untrusted",
        "CLAUDE.local.md": "loaded",
    }  # fmt: skip
    assert "untrusted" in states(reader(root, "never").files()).values()
    assert loaded(reader(root, "never").files()) == []


def test_an_import_does_not_act_where_the_file_that_names_it_does_not(tmp_path: Path) -> None:
    root = project(tmp_path, {"AGENTS.md": "@a.md", "a.md": "a"})
    made = reader(root)
    approve(made, "a.md")
    assert states(made.files()) == {"AGENTS.md": "untrusted", "a.md": "waiting"}


def test_a_file_that_one_who_does_not_act_imports_acts_where_another_does(tmp_path: Path) -> None:
    root = project(tmp_path, {"HOLDFAST.md": "@AGENTS.md", "AGENTS.md": "@a.md", "a.md": "a"})
    made = reader(root)
    approve(made, "AGENTS.md", "a.md")
    assert loaded(made.files()) == ["AGENTS.md", "a.md"]


def test_an_approval_ends_where_the_content_changes_and_what_was_approved_goes_on(
    tmp_path: Path,
) -> None:
    root = project(tmp_path, {"AGENTS.md": "one"})
    made = reader(root)
    approve(made, "AGENTS.md")
    assert made.files()[0].text == "one"
    (root / "AGENTS.md").write_text("two")
    [found] = made.files()
    assert (found.state, found.text, found.newer, found.asks) == ("loaded", "one", True, True)
    [afresh] = reader(root).files()
    assert (afresh.state, afresh.newer) == ("changed", False)
    approve(made, "AGENTS.md")
    assert [one.text for one in made.files()] == ["two"]


def test_an_import_outside_of_the_project_asks_and_is_not_opened_before(tmp_path: Path) -> None:
    outside = tmp_path / "notes.md"
    outside.write_text("notes")
    outside.chmod(0)
    root = project(tmp_path / "repo", {"AGENTS.md": f"@../notes.md @{outside} @~/home.md"})
    made = reader(root, "always", home=str(tmp_path))
    found = {one.path: one.state for one in made.files()}
    assert found == {
        "AGENTS.md": "loaded", str(outside): "outside", str(tmp_path / "home.md"): "outside",
    }  # fmt: skip
    outside.chmod(0o600)
    approve(made, str(outside))
    assert states(made.files())[str(outside)] == "loaded"
    outside.write_text("changed")
    assert states(reader(root, "always").files())[str(outside)] == "changed"


def test_what_the_user_imports_in_their_own_file_is_theirs(tmp_path: Path) -> None:
    user = written(tmp_path / "config", {"AGENTS.md": "@../notes.md", "../notes.md": "notes"})
    found = reader(project(tmp_path / "repo", {}), user=[user]).files()
    assert loaded(found) == ["AGENTS.md", "notes.md"]


def test_a_policy_that_others_may_write_is_refused(tmp_path: Path) -> None:
    managed = written(tmp_path / "etc", {"HOLDFAST.md": "managed"})
    (managed / "HOLDFAST.md").chmod(0o666)
    [found] = reader(project(tmp_path / "repo", {}), managed=managed).files()
    assert found.state == "refused"
    assert "chown it to root" in found.why


def test_two_names_of_one_file_are_read_once_and_copies_are_said_once(tmp_path: Path) -> None:
    root = project(tmp_path, {"AGENTS.md": "x", ".claude/CLAUDE.md": "x"})
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    found = reader(root, "always").files()
    assert loaded(found) == ["AGENTS.md", ".claude/CLAUDE.md"]
    assert told(found, 1000)[0].count("\n\nx") == 1


def test_a_file_too_large_is_refused_and_never_cut(tmp_path: Path) -> None:
    root = project(tmp_path, {"AGENTS.md": "x" * (256 * 1024 + 1), "CLAUDE.md": "y"})
    found = reader(root, "always").files()
    assert states(found) == {"AGENTS.md": "refused", "CLAUDE.md": "loaded"}
    assert "exceeds 262,144 bytes" in found[0].why


def test_what_does_not_fit_is_left_out_whole_and_named(tmp_path: Path) -> None:
    root = project(tmp_path, {"HOLDFAST.md": "broad " * 300, "CLAUDE.local.md": "specific"})
    found = reader(root, "always").files()
    text, gone = told(found, 200)
    assert gone == ("HOLDFAST.md",)
    assert "specific" in text
    assert "broad" not in text
    assert "[Left out, as they do not fit: HOLDFAST.md]" in text


def test_what_fits_exactly_is_not_left_out(tmp_path: Path) -> None:
    found = reader(project(tmp_path, {"AGENTS.md": "words " * 300}), "always").files()
    least = next(n for n in range(1, 2_000) if not told(found, n)[1])
    text, _ = told(found, least)
    assert estimate(text) <= least <= estimate(text) + 40


@pytest.mark.seed("000", 101)
def test_a_file_of_ones_own_that_git_would_commit_says_so(tmp_path: Path) -> None:
    root = project(tmp_path, {"CLAUDE.local.md": "mine"})
    [found] = reader(root, "always").files()
    assert found.why.endswith("; git does not ignore it, so it may be committed")
    (root / ".gitignore").write_text("*.local.md\n")
    [found] = reader(root, "always").files()
    assert "git" not in found.why


def test_a_directory_without_repository_is_a_project_of_its_own(tmp_path: Path) -> None:
    written(tmp_path, {"AGENTS.md": "above", "here/AGENTS.md": "here"})
    assert loaded(reader(tmp_path / "here", "always").files()) == ["AGENTS.md"]


def test_what_has_not_changed_is_read_once(tmp_path: Path) -> None:
    root = project(tmp_path, {"AGENTS.md": "x"})
    made = reader(root, "always")
    first = made.read("AGENTS.md")
    assert made.read("AGENTS.md") is first
    os.utime(root / "AGENTS.md", ns=(1, 1))
    assert made.read("AGENTS.md") is not first
