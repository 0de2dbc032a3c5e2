"""The rules for English.

Rule 1: what a user reports as failing, missing or unlike what was expected corrects the agent: a
        message after the first is about its work. A question reports nothing.
"""

from __future__ import annotations

from typing import Final

from holdfast.core.ledger.wishes.rule import rule

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
    rule(
        "en-prohibition",
        "constraint",
        _CLAUSE + r"(?:do not|don['’]?t|never(?! \w+s\b))\s+(?!(?:you|we|they|i|mind|think|know|see"
        r"|understand"
        r"|like|have|worry|care|seem|look)\b)\w+",
        r"\b(?:must|should|shall|may)(?:n['’]?t| not| never)\b(?! (?:we|you|i|it|this|that)\b)"
        r"\s+(?!figure|find|see|get|understand|be that)\w+",
        r"\b(?:you|agents?|nobody|it) can(?:n?o?t| not|['’]t) (?:use|change|touch|edit|modify"
        r"|add|rely)\b",
        r"\bshould have nothing to do with\b",
        r"\bunder no circumstances\b|\bon no account\b",
    ),
    rule(
        "en-obligation",
        "constraint",
        r"(?<!\bit )(?<!\bthere )(?<!\bthat )(?<!\bthis )(?<!\byou )(?<!\bwe )\bmust\b(?! (?:be"
        r"|have) (?:a"
        r"|the|some))",
        r"\byou must\b(?! (?:be|have) )",
        _CLAUSE + r"(?:always|be sure|don['’]?t forget)\b",
        rf"(?:{_CLAUSE}|\b(?:let['’]?s|need to|have to|must|also) )(?:make sure|ensure)\b"
        r"(?!.*\b(?:work(?:s|ing)|set ?up|looks? good|(?:is|are) (?:configured|functioning"
        r"|correct))\b)",
        r"\bshould (?:always|only)\b",
        r"\bnot both\b|\bone at a time\b",
        r"\bit is (?:important|essential|crucial) (?:that|to)\b",
    ),
    rule(
        "en-exclusion",
        "constraint",
        r"^(?!(?:i(?! (?:want|need|would|do|think))|it|this|that|there|how|why|what"
        r"|is|are|if|in)\b)"
        r".*?\bwithout\s+(?!(?:book|warn|pric|meet|someth|anyth|noth)ing\b)"
        r"(?:\w+ing\b|any\b|a\b|the\b|\w+ (?:warnings?|changes?|errors?))",
        r"\bwith no (?!problem|idea|luck|success)\w+",
        r"^(?!(?:i|how|why|what|when|it|now|that|for example|instead|rather|seems?|if|is|a)\b)"
        r".*?\b(?:instead of|rather than) (?!what"
        r"|that\b)\w+",
        r"\buse\s+\S+(?:\s+\S+)?,?\s+not\s+\S+",
        r"(?:^|,\s*)no (?!man|dude|on|one|need|problem|idea|worries|longer|way|matter|wonder"
        r"|luck|thanks|that"
        r"|this|"
        r"it|the|let|i|we|you|such|change|doubt|errors?|issues?)[a-z]\S*(?:\s\S+){0,2}!?$",
        r"(?<!\bis )(?<!['’]s )\bno need (?:for|to)\b|\bno (?:more|new|extra|other"
        r"|additional) (?!than)\w+",
        r"\bnothing else\b|(?<!\bdo )\bnothing but\b",
    ),
    rule(
        "en-limit",
        "constraint",
        rf"{_CLAUSE}only\s+{_WORK}\b",
        rf"\b(?:{_WORK}|focus)\s+(?:…\s+)?only\b|\blet['’]?s only\b",
        r"\b(?:at most|no more than|not more than|at least (?:an?|one|two|three|\d+)"
        r"|no longer than|a maximum of)\b",
        r"\b(?:limit|restrict) (?:the )?(?:scope|your\w*|changes|this|it)\b|\b(?:just"
        r"|only) for now\b",
        r"\bkeep (?:it|this|that|them|the \w+|your \w+) (?:\w+ ){0,2}"
        r"(?:short|simple|small|brief|concise|minimal|minimum|lean|tight|dry|straightforward)\b",
        r"\bas \w+ as possible\b|\bsimplest (?:possible|way|approach|correct)\b"
        r"|\b(?:bare )?minimum\b|\bonly the minimal\b|\b(?:be|stay|remain) (?:very )?(?:concise"
        r"|brief|careful)\b"
        r"|\bnothing (?:fancy|complicated)\b",
        r"\bdependency[- ]free\b",
    ),
    rule(
        "en-preservation",
        "constraint",
        r"(?:^|[,;:]\s*|\b(?:and|please|while|but)\s+)keep(?:ing)? (?:it|this|that|them|all"
        r"|every\w*|the)\b"
        r"(?! (?:up|going|track|me|posted))",
        r"\b(?:stay|leave|left|keep|kept|remain)\b(?:\s\S+){0,4}? (?:as[- ]is|alone|untouched"
        r"|unchanged|intact)\b",
    ),
    rule(
        "en-order",
        "constraint",
        r"\bafter (?:each|every)\b(?! other)|\bonce (?:each|the) \w+ is\b"
        r"|\bas (?:each|every|(?:you|we) (?:go|progress|proceed|work))\b|\balong the way\b",
        r"\bbefore (?:moving|continuing|proceeding|going|doing|starting|implementing|coding|writing"
        r"|(?:making|taking|editing|touching|committing|pushing) (?:any|the|a)\b"
        r"|(?:you|we) (?:\w+ )?(?:do|start|go|commit|push|write|change|touch|make|edit|implement"
        r"|begin"
        r"|continue|proceed|move|get)|any)\b",
        r"\b(?:one|1)[- ]by[- ](?:one|1)\b|\bone[- ]at[- ]a[- ]time\b|\bstep[- ]by[- ]step, ",
        r"\b(?:i['’]?d|i would|we) prefer\b|\bpreferably\b",
    ),
    rule(
        "en-consent",
        "constraint",
        r"\bask (?:me )?(?:\w+ ){0,4}questions?\b|\bask (?:me|first|before|if)\b",
        r"\b(?:let me know|tell me) if you have (?:any )?(?:\w+ )?questions\b",
        r"\b(?:wait for|until|once|after) (?:my|i) (?:\w+ ){0,3}?(?:approv\w*|review\w*"
        r"|confirm\w*|ok|go)\b"
        r"|\bfor (?:me to|my) (?:review|approv)\w*\b|\bthen i['’]?(?:ll| will) (?:approve|review"
        r"|tell)\b",
        r"\b(?:see|review|approve|confirm) (?:\w+ ){0,5}?(?:each time|and approve|(?:first"
        r"|before)(?=[,.!;]|$))",
        r"\bjust (?:(?:tell|show|give) me|explain|research) (?!.*\?\s*$)\w+"
        r"|\bno code\b|\bread-only\b",
    ),
    rule(
        "en-hands-off",
        "constraint",
        r"\bi(?:['’]?ll| will|['’]d like to)(?: \S+){0,6}? (?:myself|manually)\b",
        r"\bi['’]?ll (?:do|handle|manage|take care of) (?:the|that|this|it)\b",
        r"\bleave (?:\w+ ){0,3}?(?:to me|alone|for now|as (?:it )?is|out)\b",
    ),
    rule(
        "en-reminder",
        "constraint",
        r"^(?:(?:also|and|please|just|but|so),? )*(?:remember|remind(?:er)?|keep in mind"
        r"|bear in mind)\b"
        r"(?! me\b)(?!.*\?\s*$)|\b(?:remember to|keep (?:this|that) in mind)\b",
    ),
    rule(
        "en-standing",
        "constraint",
        r"\b(?:from (?:now|here) on|from this point on|going forward|henceforth)\b",
        r"\bfor the rest of (?:this|the|our) (?:session|conversation|chat|work|task|project)\b",
    ),
    rule(
        "en-no",
        "correction",
        r"^correction\b|^no (?:no|man|way|dude|don['’]?t|we)\b|^no$|^not? (?:true"
        r"|quite|right"
        r"|exactly|helping|working|promising|good|really)\b",
        r"^(?:no|nope|nah)(?:[,.!:;—-]|\s+(?:that|this|it|the|let['’]?s|you|i|not|wait)\b)",
        r"\bthat['’´Ä]*s not\b(?! (?:bad|all|a problem|an issue))|\bnot (?:what|how) i\b"
        r"|^not (?:that|this|like that)\b",
        r"^(?:it|this|that) should(?:n['’]?t| not)\b|\bi was talking about\b|^are you sure\b",
        r"\bshould (?:be|appear|read|say|look) \S+(?:\s\S+){0,3}, not\b",
        r"^(?:that|this|it) (?:isn['’]?t|is not|was not|wasn['’]?t) (?!bad|a problem)",
        r"^(?:actually|wait|stop|wrong|incorrect|hold on|whoa|oops|whoops)\b[,!. ]",
        r"\b(?:something|looks?|seems?|went|goes|that['’]?s|it['’]?s|this is|got it|completely"
        r"|all) wrong\b",
        r"\b(?:is|was|are|were) (?:actually|wrong|incorrect)\b",
        r"\bi (?:meant|said|asked|told you)\b|\bi did ?n['’]?o?t (?:mean|ask|say|want)\b",
    ),
    rule(
        "en-reproach",
        "correction",
        r"\byou (?:\w+ )?(?:forgot|missed|broke|misunderstood|misread|fucked|messed|screwed"
        r"|ignored|skipped|"
        r"overwrote|lost|didn['’]?t|did not|haven['’]?t|should have|were supposed)\b",
        r"\byou(?:['’]re| are) not (?:\w+ing|even)\b|\byou should (?:know|have)\b|\boversight\b",
        r"^why (?:are|did|do|would|have) you\b|\bare you (?:\w+ )?(?:stupid|kidding|serious)\b",
        r"\b(?:horrible|lame|terrible|awful|ugly|sucks|useless|nonsense)\b",
    ),
    rule(
        "en-complaint",
        "correction",
        r"^(?:ok(?:ay)?,? )?(?:h+m+|u+h+|huh|ugh|wtf|oh come on|ouch|yikes|oddly|weird|strange)\b"
        r"(?!.*\?\s*$)",
        r"\bunfortunately\b|\bfor some reason\b|\bhallucinat\w+\b|\bmakes? no sense\b"
        r"|\bdoes ?n['’]?t (?:really )?make (?:any )?sense\b",
        r"\bi (?:really )?(?:do ?n['’]?t|do not) (?:like|love|want|need|see why|think (?:so|that"
        r"|we|it|you))\b(?!.*\?\s*$)",
        r"\bwe (?:really )?(?:do ?n['’]?t|do not) (?:want|need)\b(?! to (?:worry|wait))",
        r"\b(?:not sure|don['’]?t think) (?:that )?you (?!want|need|can)\w+",
        r"\bi (?:thought|expected|was expecting|would(?:['’]?ve| have)? expect\w*"
        r"|never (?:asked|said|wanted))\b(?! of\b)",
        r"\byou (?:were told|just (?:\w+ed|made|did|broke|put|took|wrote)"
        r"|are (?:just )?(?:deleting|removing"
        r"|repeating|breaking)|keep \w+ing|still|again)\b",
        r"^(?:(?:but|and|ok|also|so|now),? )*you (?:\w+ )?(?:deleted|removed|changed|hard-?coded"
        r"|duplicated"
        r"|put|made no|undid|left|mixed|renamed|cut|got cut)\b",
        r"\bwhat (?:are|were) you (?:doing|talking|smoking|thinking)\b|\bwhat the (?:hell|heck"
        r"|fuck)\b",
        r"\b(?:is|are|looks?|feels?|seems?|was|['’]s) (?:(?:a|very|quite|pretty|rather|kinda|bit"
        r"|little|really"
        r"|overly|so) )*(?:confusing|weird|ugly|off|strange|misleading|redundant|noisy|sloppy"
        r"|odd|vague"
        r"|messed up|overkill|wrong|unnecessary|outdated|out of date|too (?!many times)\w+)\b",
        r"\b(?:un(?:necessarily|expected)|overly complex|duplicated? (?:code|logic))\b",
        r"\b(?:one|a|another|small|little|minor|few|some|two|same|new|other) "
        r"(?:\w+ )?(?:issues?|problems?|bugs?|glitch|caveat)\b(?!.*\?\s*$)",
        r"^(?:the )?(?:issues?|problems?|errors?|bug)(?:,? | here| now)*(?: (?:is|are|was)\b|:)",
        r"\b(?:works?|good|fine|perfect|great|expected|ok)\b.{0,30}\bexcept\b",
    ),
    rule(
        "en-failure",
        "correction",
        r"\b(?:get|gets|got|getting|sees?|seeing|saw|receiv\w+|hit|hitting|throws?|throwing|shows?"
        r"|showing|gives?|giving|have|having|has|there['’]?s|there (?:is|are|was|were)"
        r"|here['’]?s|here is"
        r"|now|new|same|this|another|similar|latest|next|following)\b"
        r"(?: [^\s?]+){0,5}? (?:errors?|exceptions?|failures?|failing tests?|404|405|500|502)\b"
        r"(?! (?:handling|messages?|codes?|states?|recovery|pages?|tracking|logs?|reporting))"
        r"(?!.*\?\s*$)",
        r"\b(?:tests?|builds?|it|this|that|which|steps?|runs?|deploy\w*|app|page|server|command"
        r"|job|ci"
        r"|everything|one|functionality|function)(?: \w+){0,3}? (?:fails?|failed|failing|broke"
        r"|breaks|broken"
        r"|crash(?:es|ed|ing)?|stuck|freez(?:es|ing)|hangs?|stopped)\b(?!.*\?\s*$)",
        r"^(?:(?:it['’]?s|got|another|still|again|now|new|similar|same|and|but|build|tests?) )*"
        r"(?:stuck|broken|failing|failed|fails|failures?|errors?)(?= (?:again|in|on|when|at|with"
        r"|now|for)\b|\s*(?:$|[:.!,(]))",
        r"\b(?:is|are|was|were|am|['’]s|['’]re) (?:\w+ )?missing\b(?!.*\?\s*$)",
        r"^(?!.*\b(?:if|whether|make sure|ensure|so that|in case|because|how|should|must|want)\b)"
        r"(?!(?:i|you|we|they|please|let|can|could|add|create|write|update|fix|use|make|change"
        r"|put|show|move"
        r"|remove|check|find|document|note|explain|tell|help)\b)(?!.*\?\s*$)"
        r".*?\b(?:does ?n['’]?t|does not|did ?n['’]?t|did not|is ?n['’]?t|is not|are ?n['’]?t"
        r"|are not"
        r"|was ?n['’]?t|was not|wo ?n['’]?t|no longer)\b"
        r"(?! (?:need|have to|matter|want|care|require|sure|bad|an? (?:problem|issue)|that"
        r"|necessary"
        r"|important|possible|ready|done|worth|supported|available))",
        r"\bi (?:can['’]?t|cannot|can not|am (?:not able|unable)|['’]m (?:not able|unable))\b"
        r"(?! (?:remember|recall|tell|decide|wait|think|find out|believe|say))(?!.*\?\s*$)",
        r"\bi(?:['’]m| am) not (?:see|get|find|hear|sure (?:you|that|this|it))\w*\b",
        r"\bnothing (?:happens|happened|changed|works|is|was|shows|appears)\b|\bdoing (?:nothing"
        r"|anything)\b"
        r"|\bnone of (?:them|it|these|those|the)\b",
        r"\bnot working\b|\bout of date\b|\b(?:got|gets|get|is|are|was|were|being|been) (?:reset"
        r"|lost"
        r"|ignored|duplicated|overwritten|deleted|cut off|messed up)\b(?!.*\?\s*$)",
    ),
    rule(
        "en-persists",
        "correction",
        r"\bstill (?:\w+ )?(?:fail|not\b|doesn|don['’]?t|isn|broken|wrong|the same|looks?|has"
        r"|have|shows?|missing|"
        r"gets?|seeing|there|crash)",
        r"\b(?:doesn['’]?t|does not|didn['’]?t|isn['’]?t|not|don['’]?t t?h?ink\b.{0,40}) "
        r"(?:work|working|works|open|load|render|show|fit|compile)\w*\b",
        r"\bstill\b(?! (?:be|needs?|want|like|works?|working|important|useful|valid|the case"
        r"|think|prefer"
        r"|able|possible|used?|try|open|good|fine|great|there\?|to be|do|have (?:to|a|some)|in"
        r"|a)\b)"
        r"(?!.*\?\s*$)",
        r"\b(?:happen\w*|appear\w*|show\w*|same|did it|came back|reset\w*) again\b|^again[,: ]",
        r"\bstill seems? to\b|\bi (?:did ?n['’]?o?t|do ?n['’]?o?t|never) (?:see|saw|get|got)\b",
        r"\bwe(?:['’]re| are) (?:still )?missing\b|\bnow (?:brighter|darker|worse|slower|broken)\b",
        rf"(?<!avoid )\btoo {_WORSE}\b",
        r"\bnot (?:being |been |yet )?(?:updated|rendered|displayed|shown|"
        r"saved|applied|loaded|visible)\b",
        r"^why (?:is|are|does|do) (?:it|they|that|this)\b.*\bnot\b",
    ),
    rule(
        "en-undo",
        "correction",
        r"\b(?:undo|revert|roll back|restore) (?:that|this|it|your|the (?:change|last|commit))",
        r"\bi(?:['’]?ve)? (?:just )?(?:reverted|undid|undo|discarded|rolled back)\b"
        r"|\brevert (?:back|the)\b"
        r"|\b(?:put|bring|add) (?:it|that|them|those) back\b|\bback to (?:this|the) (?:error"
        r"|same)\b",
        r"\b(?:reverted|rolled back) (?:your|that|the|all)\b",
        r"\btry again\b|\bdo it again\b|\bundid (?:that|your)\b",
    ),
)
