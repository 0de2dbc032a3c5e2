"""The rules that recognise a constraint or a correction in what a user says, by language.

Rule 1: each rule has a name, and a wish names the rules that found it.
Rule 2: precision comes before recall: a rule asks for the shape of an order (an imperative, a
        clause that begins with the word) rather than for the word anywhere.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal

from msgspec import Struct

Kind = Literal["constraint", "correction"]


class Rule(Struct, frozen=True):
    """One way of saying it."""

    name: str
    kind: Kind
    shape: str
    """The regular expression, made when it is first needed."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return _pattern(self.shape)


@cache
def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(shape, re.IGNORECASE)


def _rule(name: str, kind: Kind, *patterns: str) -> Rule:
    return Rule(name, kind, "|".join(patterns))


_CLAUSE = r"(?:^|[,;:(–—!?-]\s*|\b(?:and|but|please|pls|also|just|so|then|ok|okay|must|should)\s+)"
_WORK = (
    r"(?:use|using|edit|change|touch|modify|run|write|create|add|import|install|commit|fix|update|"
    r"keep|test|read|delete|remove|rename|rely|depend|support|output|print|return|show)"
)
_WORSE = (
    r"(?:big|small|large|long|short|wide|narrow|slow|fast|intense|bright|dark|dim|light|loud|much|"
    r"many|complicated|complex|verbose|high|low|close|far|thin|thick|strict|generic)"
)

ENGLISH: Final = (
    _rule(
        "en-prohibition",
        "constraint",
        _CLAUSE + r"(?:do not|don['’]?t|never)\s+(?!(?:you|we|they|i|mind|think|know|see|understand"
        r"|like|have|worry|care|seem|look)\b)\w+",
        r"\b(?:must|should|shall|may|can)(?:n['’]?t| not| never)\b(?! (?:we|you|i|it|this|that)\b)"
        r"\s+(?!figure|find|see|get|understand|be that)\w+",
        r"\bshould have nothing to do with\b",
        r"\bunder no circumstances\b|\bon no account\b",
    ),
    _rule(
        "en-obligation",
        "constraint",
        r"(?<!\bit )(?<!\bthere )(?<!\bthat )(?<!\bthis )(?<!\byou )\bmust\b(?! (?:be|have) (?:a"
        r"|the|some))",
        r"\byou must\b(?! (?:be|have) )",
        _CLAUSE + r"(?:always|be sure|make sure|ensure|don['’]?t forget)\b",
        r"\bshould (?:always|only)\b|\b(?:to|let['’]?s|we) make sure\b"
        r"|\b(?:let['’]?s|need to|have to) ensure\b",
        r"\bnot both\b|\bone at a time\b",
        r"\bit is (?:important|essential|crucial) (?:that|to)\b",
    ),
    _rule(
        "en-exclusion",
        "constraint",
        r"\bwithout\s+(?:\w+ing\b|any\b|a\b|the\b|adding\b|\w+ (?:warnings?|changes?|errors?))",
        r"\bwith no (?!problem|idea|luck|success)\w+",
        r"\b(?:instead of|rather than) (?!what|that\b)\w+",
        r"\buse\s+\S+(?:\s+\S+)?,?\s+not\s+\S+",
        r"(?:^|,\s*)no (?!one|need|problem|idea|worries|longer|way|matter|wonder|luck|thanks|that"
        r"|this|"
        r"it|the|let|i|we|you|such|change|doubt|errors?|issues?)[a-z]\S*(?:\s\S+){0,2}!?$",
        r"\bno need (?:for|to)\b|\bno (?:more|new|extra|other|additional) (?!than)\w+",
        r"\bnothing (?:else|but)\b",
    ),
    _rule(
        "en-limit",
        "constraint",
        rf"{_CLAUSE}only\s+{_WORK}\b",
        rf"\b(?:{_WORK}|focus)\s+(?:…\s+)?only\b|\blet['’]?s only\b",
        r"\b(?:at most|no more than|not more than|at least|no longer than|a maximum of)\b",
        r"\bdependency[- ]free\b",
    ),
    _rule(
        "en-preservation",
        "constraint",
        r"(?:^|[,;:]\s*|\b(?:and|please|to|while|but)\s+)keep(?:ing)? (?:it|this|that|them|all"
        r"|every\w*|the)\b"
        r"(?! (?:up|going|track|me|posted))",
        r"\b(?:stay|leave|left|keep|kept|remain)\b(?:\s\S+){0,4}? (?:as[- ]is|alone|untouched"
        r"|unchanged|intact)\b",
    ),
    _rule(
        "en-order",
        "constraint",
        r"\bafter (?:each|every)\b|\bas (?:each|every|you go|we go)\b|\bonce (?:each|the) \w+ is\b",
        r"\bbefore (?:moving|continuing|proceeding|going|doing|starting|you (?:do|start|go|commit"
        r"|push))\b",
        r"\b(?:i['’]?d|i would|we) prefer\b|\bpreferably\b",
    ),
    _rule(
        "en-standing",
        "constraint",
        r"\b(?:from (?:now|here) on|from this point on|going forward|henceforth)\b",
        r"\bfor the rest of (?:this|the|our) (?:session|conversation|chat|work|task|project)\b",
    ),
    _rule(
        "en-no",
        "correction",
        r"^correction\b",
        r"^(?:no|nope|nah)(?:[,.!:;—-]|\s+(?:that|this|it|the|let['’]?s|you|i|not|wait)\b)",
        r"\bthat['’´Ä]*s not\b(?! (?:bad|all|a problem|an issue))|\bnot (?:what|how) i\b"
        r"|^not (?:that|this|like that)\b",
        r"^(?:it|this|that) should(?:n['’]?t| not)\b|\bi was talking about\b|^are you sure\b",
        r"\bshould (?:be|appear|read|say|look) \S+(?:\s\S+){0,3}, not\b",
        r"^(?:that|this|it) (?:isn['’]?t|is not|was not|wasn['’]?t) (?!bad|a problem)",
        r"^(?:actually|wait|stop|wrong|incorrect|hold on)\b[,!. ]",
        r"\b(?:is|was|are|were) (?:actually|wrong|incorrect)\b",
        r"\bi (?:meant|said|asked|told you)\b|\bi did ?n['’]?o?t (?:mean|ask|say|want)\b",
    ),
    _rule(
        "en-reproach",
        "correction",
        r"\byou (?:\w+ )?(?:forgot|missed|broke|misunderstood|misread|fucked|messed|screwed"
        r"|ignored|skipped|"
        r"overwrote|lost|didn['’]?t|did not|haven['’]?t|should have|were supposed)\b",
        r"\byou(?:['’]re| are) not (?:\w+ing|even)\b|\byou should (?:know|have)\b|\boversight\b",
        r"^why (?:are|did|do|would|have) you\b|\bare you (?:\w+ )?(?:stupid|kidding|serious)\b",
        r"\b(?:horrible|lame|terrible|awful|ugly|sucks|useless|nonsense)\b",
    ),
    _rule(
        "en-persists",
        "correction",
        r"\bstill (?:\w+ )?(?:fail|not\b|doesn|don['’]?t|isn|broken|wrong|the same|looks?|has"
        r"|have|shows?|missing|"
        r"gets?|seeing|there|crash)",
        r"\b(?:doesn['’]?t|does not|didn['’]?t|isn['’]?t|not|don['’]?t t?h?ink\b.{0,40}) "
        r"(?:work|working|works|open|load|render|show|fit|compile)\w*\b",
        r"\bstill seems? to\b|\bi (?:did ?n['’]?o?t|do ?n['’]?o?t|never) (?:see|saw|get|got)\b",
        r"\bwe(?:['’]re| are) (?:still )?missing\b|\bnow (?:brighter|darker|worse|slower|broken)\b",
        rf"(?<!avoid )\btoo {_WORSE}\b",
        r"\bnot (?:being |been |yet )?(?:updated|rendered|displayed|shown|"
        r"saved|applied|loaded|visible)\b",
        r"^why (?:is|are|does|do) (?:it|they|that|this)\b.*\bnot\b",
    ),
    _rule(
        "en-undo",
        "correction",
        r"\b(?:undo|revert|roll back|restore) (?:that|this|it|your|the (?:change|last|commit))",
        r"\b(?:reverted|rolled back) (?:your|that|the|all)\b",
        r"\btry again\b|\bdo it again\b|\bundid (?:that|your)\b",
    ),
)

CHINESE: Final = (
    _rule(
        "zh-prohibition",
        "constraint",
        r"(?:^|[，,；;、\s但請请也就且])(?:千万|千萬|绝对|絕對)?(?:不要|别|別|勿|不准|不许|不許|不得|禁止|请勿|請勿|不可以?)"
        r"(?!说|說|的|人|处|處)\w",
        r"避免",
    ),
    _rule(
        "zh-obligation",
        "constraint",
        r"必须|必須|务必|務必|一定要|始终|始終|确保|確保|保证|保證",
        r"保持(?:现在|現在|不变|不變|原|一致|相同)",
    ),
    _rule(
        "zh-limit",
        "constraint",
        r"只(?:能|要|需要?|用|改|允许|允許|可以?)(?!是|要是)\w",
        r"(?:仅|僅)(?:限|能|可|使用|修改)",
        r"(?:直接|请|請|使用|用).{1,30}，?而(?:不是|非)(?:使用|用|通过|通過)",
    ),
    _rule(
        "zh-correction",
        "correction",
        r"^(?:不对|不對|不是|错了|錯了|不行|等等|等一下|停)",
        r"你(?:忘了|忘记|忘記|漏了|漏掉|搞错|搞錯|弄错|弄錯|没有|沒有)",
        r"(?:没有|沒有|未)(?:生效|效果|变化|變化|作用)|依然|(?:还是|還是)(?:显示|顯示|不|没|沒|有|\d|报|報|错|錯)",
        r"仍然(?:在|是|显示|顯示|不|有)",
        r"还原|還原|改回|撤销|撤銷",
        r"不是.{1,40}，?而是|(?:应该|應該)是.{1,60}(?:而不是)",
        r"(?:用法|结果|結果|内容|內容).{0,12}(?:不同|不一致|不符|不对|不對)",
        r"不需要.{1,20}即可",
    ),
)

JAPANESE: Final = (
    _rule(
        "ja-prohibition",
        "constraint",
        r"(?:ないで(?:ください|下さい|くれ|ね|。|$)|しないこと|禁止|てはいけ(?:ない|ません)|ては(?:だめ|ダメ|駄目))",
        r"(?:せずに|ないまま|なしで)",
    ),
    _rule(
        "ja-obligation",
        "constraint",
        r"(?:必ず|絶対に|なければ(?:なら|いけ)(?:ない|ません)|ようにしてください|常に)",
        r"(?:のみ|だけ)(?:を|に|で)?(?:使|変更|修正|して|編集)",
        r"ではなく.{1,30}(?:使って|使用|にして|してください)",
    ),
    _rule(
        "ja-correction",
        "correction",
        r"^(?:いや|いいえ|違|ちが)|そうじゃな|そうではな|間違(?:って|い)|違います|違う",
        r"まだ(?:動|直|エラー|失敗|出)|動(?:かない|きません)|元に戻して|やり直し|忘れて(?:い|る)",
    ),
)

GERMAN: Final = (
    _rule(
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
    _rule(
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
    _rule(
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
    _rule(
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
    _rule(
        "es-obligation",
        "constraint",
        r"\b(?:debe[sn]?|tiene[sn]? que|hay que|asegúrate|asegurate|siempre|es obligatorio)\b",
        r"\b(?:usa|utiliza|cambia|modifica|edita)\b.{0,20}\b(?:solo|sólo|solamente|únicamente)\b",
        r"\b(?:solo|sólo|solamente|únicamente)\s+(?:usa|utiliza|cambia|modifica|edita|en)\b",
        r"\ben (?:vez|lugar) de\b|\bcomo (?:máximo|mínimo)\b|\bdeja .{1,40}\b(?:como está|igual)\b",
    ),
    _rule(
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
    _rule(
        "fr-prohibition",
        "constraint",
        r"\b(?:ne|n['’])\s*(?:modifi|touch|chang|supprim|utilis|ajout|cré|écri|install|renomm"
        r"|lanc|fai|commit|"
        r"pouss|met)\w*\s+(?:pas|jamais|rien|plus|aucune?)\b",
        r"\bne (?:pas|jamais|rien) \w+(?:er|ir|re)\b|\b(?:ne )?(?:doit|doivent|dois|peut) (?:pas"
        r"|jamais)\b",
        r"\bsans\s+(?:\w+(?:er|ir|re)\b|aucune?|nouvelles?|toucher)|\bévite[zr]?\b|\binterdit\b",
    ),
    _rule(
        "fr-obligation",
        "constraint",
        r"\b(?:il faut|doit|doivent|tu dois|vous devez|assure-toi|assurez-vous|impérativement"
        r"|obligatoirement)\b",
        r"\b(?:utilise|modifie|change|garde)\w*\b.{0,20}\b(?:uniquement|seulement|toujours)\b",
        r"\b(?:uniquement|seulement)\s+(?:avec|dans|le|la|les|pour)\b|\bau lieu d(?:e|['’])"
        r"|\bplutôt que\b",
        r"\b(?:laisse|garde)\w* .{1,40}\b(?:tel quel|telle quelle|comme c['’]est|intact)",
    ),
    _rule(
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
