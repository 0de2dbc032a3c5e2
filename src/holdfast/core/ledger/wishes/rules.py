"""The rules that recognise a constraint or a correction in what a user says, by language.

Rule 1: each rule has a name, and a wish names the rules that found it.
Rule 2: precision comes before recall: a rule asks for the shape of an order (an imperative, a
        clause that begins with the word) rather than for the word anywhere.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.ledger.wishes.english import ENGLISH
from holdfast.core.ledger.wishes.rule import Kind, Rule, rule

__all__ = ["RULES", "Kind", "Rule"]

CHINESE: Final = (
    rule(
        "zh-prohibition",
        "constraint",
        r"(?:^|[，,；;、\s但請请也就且你先])(?:千万|千萬|绝对|絕對)?(?:不要|别|別|勿|不准|不许|不許|不得|禁止|请勿|請勿|不可以?)"
        r"(?!显示|顯示|出现|出現|误导|誤導|骗|騙|说|說|的|人|处|處)\w",
        r"避免|不(?:需要|用|必)(?:修改|改|动|考虑|新建)|(?:并)?不想(?:要|使用|用)",
    ),
    rule(
        "zh-obligation",
        "constraint",
        r"必须|必須|务必|務必|一定要|(?:始终|始終)(?!显示|顯示|有效|是|为|為|在)|确保|確保|保证|保證",
        r"保持(?:现在|現在|不变|不變|原|一致|相同)",
    ),
    rule(
        "zh-limit",
        "constraint",
        r"(?<![他她它])只(?:需要?(?=修改|改|解决|处理|动|用|在|做)|要(?=修改|改|用)|能|用|改|允许|允許|可以?)(?!是|要是)\w",
        r"(?:仅|僅)(?:限|能|可|使用|修改)",
        r"(?:直接|请|請|使用|用|要|希望|方案).{1,30}[，。,]?而(?:不是|非)(?!我们)",
    ),
    rule(
        "zh-correction",
        "correction",
        r"^(?:不是的|不是这|并没有|並沒有|不[，,]|[没沒]有变化|可是)|(?:这|都|是|完全)是?错(?:误)?的",
        r"(?:依然|还是|還是|仍然|依旧|又).{0,12}(?:不|没|沒|无法|無法|错|錯|问题|問題|卡|一样)",
        r"(?:出现|产生|发现|有)了?.{0,14}(?:问题|錯誤|错误|bug)(?!吗|么|嗎)",
        r"(?:但是|可是|现在|然后|之后).{0,40}(?:无法|没有办法|没办法|不能|不会|不显示|卡死|失效|报错)",
        r"你(?:根本|又|在干嘛|在干什么|是不是没|好像在)|骗我|开玩笑|造假",
        r"我的意思是|我想说的|我说了|不是我想要|不是这(?:种|个|样)",
        r"^(?:不对|不對|不是|错了|錯了|不行|等等|等一下|停)",
        r"你(?:忘了|忘记|忘記|漏了|漏掉|搞错|搞錯|弄错|弄錯|没有|沒有)",
        r"(?:没有|沒有|未)(?:生效|效果|变化|變化|作用)|依然|(?:还是|還是)(?:显示|顯示|不|没|沒|有|\d|报|報|错|錯)",
        r"仍然(?:在|是|显示|顯示|不|有)",
        r"还原|還原|改回|撤销|撤銷",
        r"不是.{1,40}，?而是|(?:应该|應該)是.{1,60}(?:而不是)",
        r"(?:用法|结果|結果|内容|內容).{0,12}(?:不同|不一致|不符|不对|不對)",
        r"不需要.{1,20}即可|打不开|打不開|没有了|沒有了|不见了|不見了|(?:没有|沒有|没|未)被(?:解决|修复|修改)",
    ),
)

JAPANESE: Final = (
    rule(
        "ja-prohibition",
        "constraint",
        r"(?:ないで(?:ください|下さい|くれ|ね|。|$)|しないこと|禁止|てはいけ(?:ない|ません)|ては(?:だめ|ダメ|駄目))",
        r"(?:せずに|ないまま|なしで)",
    ),
    rule(
        "ja-obligation",
        "constraint",
        r"(?:必ず|絶対に|なければ(?:なら|いけ)(?:ない|ません)|ようにしてください|常に)",
        r"(?:のみ|だけ)(?:を|に|で)?(?:使|変更|修正|して|編集)",
        r"ではなく.{1,30}(?:使って|使用|にして|してください)",
    ),
    rule(
        "ja-correction",
        "correction",
        r"^(?:いや|いいえ|違|ちが)|そうじゃな|そうではな|間違(?:って|い)|違います|違う",
        r"まだ(?:動|直|エラー|失敗|出)|動(?:かない|きません)|元に戻して|やり直し|忘れて(?:い|る)",
    ),
)

GERMAN: Final = (
    rule(
        "de-prohibition",
        "constraint",
        r"\b(?:niemals|auf keinen fall|keinesfalls|unter keinen umständen)\b",
        r"\b(?:bitte|aber|und)\s+(?:(?:auch|noch|dabei|hier)\s+)?(?:nicht|keine?[nmrs]?|nie)\b",
        r"\b(?:darf|darfst|dürfen|soll|sollst|sollen|sollte|sollten|kannst)\s+(?:\S+\s+){0,5}?"
        r"(?:nicht|keine?[nmrs]?|nie|nichts)\b",
        r"^(?:bitte )?(?:ändere?|lösche?|benutze?|verwende?|nutze?|mache?|füge?|installiere?|fass"
        r"|schreib\w*|"
        r"committe?|pushe?|rühr\w*|erstelle?)\b.*\b(?:nicht|keine?[nmrs]?|nichts)\b",
        r"\bohne\s+(?:(?:\S+\s+){0,5}zu\s+\w+|neue|weitere|zusätzliche|änderung)",
    ),
    rule(
        "de-obligation",
        "constraint",
        r"\b(?:muss|müssen|musst)\b(?! (?:ich|man|das wohl))",
        r"\b(?:unbedingt|ausschließlich|stelle? sicher|achte darauf|auf jeden fall)\b",
        r"\b(?:verwende?|benutze?|nutze?|ändere?|nimm)\b.{0,30}\bnur\b|\bnur (?:noch )?(?:die|das"
        r"|den|der) datei",
        r"\blass\w* .{1,40}\b(?:unverändert|in ruhe|so wie|wie es ist)\b|\b(?:statt|anstatt"
        r"|anstelle)\b",
        r"\b(?:höchstens|maximal|mindestens)\b|\b(?:soll|sollen) (?:immer|stets)\b",
    ),
    rule(
        "de-correction",
        "correction",
        r"^(?:nein|nee|nö|falsch|stopp?|halt|moment)\b[,.! ]",
        r"\b(?:funktioniert|geht|klappt|läuft|stimmt)\b.{0,20}\bnicht\b",
        r"\bdu hast .*\b(?:vergessen|übersehen|falsch|kaputt|gelöscht)\b",
        r"\bdas (?:ist|war) (?:falsch|nicht (?:richtig|das|was))\b|\bimmer noch\b|\brückgängig\b"
        r"|\bich meinte\b",
        r"\beigentlich (?:wollte|sollte|meinte)|\bso war das nicht gemeint\b",
    ),
)

SPANISH: Final = (
    rule(
        "es-prohibition",
        "constraint",
        r"(?:^|[,;:¡]\s*|\b(?:y|pero|por favor|favor de)\s+)no\s+(?:me |lo |la |los "
        r"|las )?(?:uses?|usar|toques?|"
        r"tocar|cambies?|cambiar|modifiques?|modificar|borres?|borrar|hagas?|añadas?|agregues?"
        r"|instales?|"
        r"elimines?|escribas?|crees|crear|subas|hacer)\b",
        r"\b(?:nunca|jamás|evita|evitar|prohibido)\b|\bno (?:debe[sn]?|puede[sn]?|hay que)\b",
        r"\bsin\s+(?:\w+(?:ar|er|ir)(?:lo|la|los|las)?|ningun[ao]?|ningún|nuevas?|dependencias)\b",
    ),
    rule(
        "es-obligation",
        "constraint",
        r"\b(?:debe[sn]?|tiene[sn]? que|hay que|asegúrate|asegurate|siempre|es obligatorio)\b",
        r"\b(?:usa|utiliza|cambia|modifica|edita)\b.{0,20}\b(?:solo|sólo|solamente|únicamente)\b",
        r"\b(?:solo|sólo|solamente|únicamente)\s+(?:usa|utiliza|cambia|modifica|edita|en)\b",
        r"\ben (?:vez|lugar) de\b|\bcomo (?:máximo|mínimo)\b|\bdeja .{1,40}\b(?:como está|igual)\b",
    ),
    rule(
        "es-correction",
        "correction",
        r"^(?:no[,.!]\s*(?:eso|esto|así|el|la|lo|no|quiero|pero|usa|me)\b"
        r"|mal\b|incorrecto|espera\b)|\bsigue (?:sin|fallando|igual|dando)"
        r"|\bno funciona\b",
        r"^eso no\b|\beso (?:no es|está mal)|\b(?:te olvidaste|olvidaste|te faltó|has olvidado)\b",
        r"\b(?:quise decir|me refería|deshaz|revierte|todavía (?:no|falla))\b|^en realidad\b",
    ),
)

FRENCH: Final = (
    rule(
        "fr-prohibition",
        "constraint",
        r"\b(?:ne|n['’])\s*(?:modifi|touch|chang|supprim|utilis|ajout|cré|écri|install|renomm"
        r"|lanc|fai|commit|"
        r"pouss|met)\w*\s+(?:pas|jamais|rien|plus|aucune?)\b",
        r"\bne (?:pas|jamais|rien) \w+(?:er|ir|re)\b|\b(?:ne )?(?:doit|doivent|dois|peut) (?:pas"
        r"|jamais)\b",
        r"\bsans\s+(?:\w+(?:er|ir|re)\b|aucune?|nouvelles?|toucher)|\bévite[zr]?\b|\binterdit\b",
    ),
    rule(
        "fr-obligation",
        "constraint",
        r"\b(?:il faut|doit|doivent|tu dois|vous devez|assure-toi|assurez-vous|impérativement"
        r"|obligatoirement)\b",
        r"\b(?:utilise|modifie|change|garde)\w*\b.{0,20}\b(?:uniquement|seulement|toujours)\b",
        r"\b(?:uniquement|seulement)\s+(?:avec|dans|le|la|les|pour)\b|\bau lieu d(?:e|['’])"
        r"|\bplutôt que\b",
        r"\b(?:laisse|garde)\w* .{1,40}\b(?:tel quel|telle quelle|comme c['’]est|intact)",
    ),
    rule(
        "fr-correction",
        "correction",
        r"^(?:non\b|faux\b|attends\b|attendez\b|stop\b)",
        r"\bne (?:marche|fonctionne) (?:toujours )?pas\b|\btoujours (?:pas|le même|la même"
        r"|en erreur)\b",
        r"\b(?:tu as|vous avez|t['’]as) (?:oublié|cassé|supprimé par erreur)"
        r"|\bce n['’]est pas (?:ça|ce que|bon)",
        r"\bje voulais dire\b|\bannule (?:ça|cela|ta|tes|la|les)\b|^en fait\b",
    ),
)

RULES: Final = (*ENGLISH, *CHINESE, *JAPANESE, *GERMAN, *SPANISH, *FRENCH)
