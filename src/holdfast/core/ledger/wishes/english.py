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
_CONDITION = (
    r"(?: that)? (?:(?:we|you) (?!have\b|are\b)|(?:to|not|nothing|no|never)\b"
    r"|(?:\S+ ){0,7}?(?:tests?"
    r"|builds?|compiles?|lint\w*|typescript|docs?|documentation|readme|comments?|secrets?|keys?"
    r"|standards?|conventions?|existing|still|nothing|never|anything"
    r"|(?:no|not|n['’]t) (?:break|change|lose|affect|touch|be (?:pushed|committed|changed)))\b)"
)
"""What a demand to make sure of something is about, where it is more than what is to be made."""
_WORSE = (
    r"(?:big|small|large|long|short|wide|narrow|slow|fast|intense|bright|dark|dim|light|loud|much|"
    r"many|complicated|complex|verbose|high|low|close|far|thin|thick|strict|generic)"
)

ENGLISH: Final = (
    rule(
        "en-prohibition",
        "constraint",
        _CLAUSE
        + r"(?:do not|don['’]?t|never(?! \w+s\b))\s+(?!(?:you|we|they|i|mind|think|know|see|show"
        r"|display|allow|convert|limit|render|hide|reset|wrap"
        r"|understand"
        r"|like|have|worry|care|seem|look|want|deal|need)\b)\w+",
        r"\b(?:i|we) (?:do ?n['’]?t|do not) (?:want|wish) (?:you )?to (?!be\b|worry|have to|wait"
        r"|lose|block|miss)\w+",
        r"\b(?:must|shall|may|should(?= never))(?:n['’]?t| not| never)\b(?! (?:we|you|i|it|this"
        r"|that)\b)"
        r"\s+(?!figure|find|see|get|understand|render|show|appear|display|happen|explode"
        r"|crash|fail"
        r"|be (?:that|the case|possible|needed|necessary|in"
        r"|there|so|empty)\b)\w+",
        r"\b(?:you|agents?|nobody|it) can(?:n?o?t| not|['’]t) (?:use|change|touch|edit|modify"
        r"|add|rely)\b",
        r"\bshould have nothing to do with\b",
        r"\bunder no circumstances\b|\bon no account\b",
        r"\b(?:i['’]?d|i would|we['’]?d) rather not\b",
    ),
    rule(
        "en-obligation",
        "constraint",
        r"(?<!\bit )(?<!\bthere )(?<!\bthat )(?<!\bthis )(?<!\byou )(?<!\bwe )\bmust\b"
        r"(?= (?:also |all |always |only )*(?:not|never|remain|stay|use|follow|pass|support|work"
        r"|return"
        r"|include|keep|have no|be (?:kept|used|preserved|done|written|updated|tested|approved"
        r"|reviewed|compatible|concise|maintained|followed))\b)"
        r"(?! (?:not|never) (?:explode|crash|fail|happen|show|render|appear|be (?:shown"
        r"|visible))\b)",
        r"\byou must\b(?! (?:be|have) )",
        _CLAUSE + r"(?:always|be sure|don['’]?t forget)\b",
        rf"(?:{_CLAUSE}|(?<!just )\b(?:let['’]?s|need to|have to|must|(?<!to )also) )"
        r"(?:make sure|ensure)\b"
        r"(?! (?:that )?(?:i|we|you|he|they|it|my|our|users?)(?:['’]\w+)? (?:can|could"
        r"|are|is|am|read|get|now|actually)\b)"
        r"(?! (?:that )?(?:we|you|i|they|it)['’](?:re|ve|m|s)\b)"
        r"(?! (?:that )?(?:my|our) (?:app|project|site|page)\b)"
        r"(?!.*\b(?:work(?:s|ing)|set ?up|looks? good|makes? sense|(?:is|are) (?:configured"
        r"|functioning|correct))\b)"
        rf"(?={_CONDITION})",
        r"\bshould always\b(?! (?:show|display|be (?:shown|visible)))|\bshould only (?:be|use|have"
        r"|contain) (?:changed|used|edited|one)\b",
        r"\ball (?:the |our )?(?:\w+ )?(?:code|tests?|files?|hooks?|changes?|components?"
        r"|functions?) (?:should|must|need)\b",
        r"\bkeep (?:\S+ ){1,5}(?:updated|up to date|up-to-date|in sync)\b",
        rf"{_CLAUSE}follow (?:the|this|these|those|them|our|your|my|best|existing)\b"
        r"|\bbest pra[ct]+ices?,? (?:and|when|for|in) \w+ing\b"
        r"|\b(?:use|follow|using|following) (?:\S+ ){0,3}best pra[ct]+ices?\b",
        r"\b(?:tdd|test[- ]driven|test[- ]first)\b(?!.*\?\s*$)",
        r"\b(?:maintain|keep|break|stay|remain|preserve) (?:\w+ ){0,2}backwards?[- ]compatib",
        r"\bone at a time\b",
        r"\bit is (?:important|essential|crucial) (?:that|to)\b",
        r"\b(?:by|per|is|what['’]s) (?:the )?best pra[ct]+ice\b(?!.*\?\s*$)",
        r"\b(?:make|add) (?:this|that|it|these) (?:as |to |into )?(?:a|the|my|your|our|all)? ?"
        r"(?:\w+ )?(?:rules?|guidelines?|instructions)\b(?!.*\?\s*$)",
    ),
    rule(
        "en-exclusion",
        "constraint",
        r"^(?!(?:(?:but )?i(?! (?:want|need|do|think))|without|it|this|that|there|how|why|what"
        r"|is|are|if|in)\b)"
        r".*?\bwithout\s+(?!(?:book|warn|pric|meet|someth|anyth|noth)ing\b)"
        r"(?:\w+ing\b|any\b|a\b|\w+ (?:warnings?|changes?|errors?))",
        r"\bwith no (?:new |extra |other |more )?(?:fallbacks?|dependenc\w+|comments?|tests?|code"
        r"|changes?|mocks?|styling|logic|librar\w+|packages?|js|javascript|any)\b",
        rf"^(?:(?:please|also|and|but|now|then|so|ok|okay|just|yes|no|let['’]?s|i want(?: you)? to"
        r"|i['’]?d (?:like|prefer)(?: you)? to|you|we|should|must|can you|could you|always),? )*"
        rf"(?:{_WORK}|put|make|do(?! (?:you|we|i)\b)|call|store|pass|prefer|build|move"
        r"|render|get|set|leave|stick)\b"
        r"[^:;]*?\b(?:instead of|rather than) (?!what|that\b|this\b)\w+",
        r"\bshould \w+ [^:;?]*\b(?:instead of|rather than) \w+ing\b",
        r"^no (?!man|dude|one)\w+(?: \w+){0,3},? (?:just|only)\b(?! no\b)",
        r"\buse\s+\S+(?:\s+\S+)?,?\s+not\s+\S+",
        r"(?:^|[,(]\s*)no (?!man|dude|on|one|need|problem|idea|worries|longer|way|matter|wonder"
        r"|luck|thanks|that"
        r"|this|"
        r"it|the|let|i|we|you|such|change|doubt|errors?|issues?)[a-z][^\s)]*"
        r"(?:\s(?!needed|required|necessary)[^\s)]+){0,2}!?(?:\)|$)",
        r"(?<!\bis )(?<!['’]s )\bno need (?:for|to)\b|\bno (?:more|new|extra|other"
        r"|additional) (?!than)\w+",
        r"\bnothing else\b(?! needs)|(?<!\bdo )\bnothing but\b",
    ),
    rule(
        "en-limit",
        "constraint",
        rf"{_CLAUSE}only\s+{_WORK}\b(?! (?:in|is|was|i|we|it)\b)",
        r"\b(?:just|only) (?:the )?(?:ui|frontend|backend|\w+ code)\b,? (?:no|not)\b",
        rf"\bjust {_WORK} (?:\S+ ){{1,6}}for now\b|\bjust (?:make|do) (?:\S+ ){{1,6}}for now\b",
        r"(?<!to )(?<!will )\b(?:use|using|edit|change|touch|modify|run|write|create|add|import"
        r"|install|commit|fix|update|test|read|delete|remove|focus)\s+(?:…\s+)?only\b"
        r"|\blet['’]?s only\b",
        r"\b(?:let['’]?s|just|only) (?:\w+ ){0,2}focus on\b.{0,80}\bfor now\b",
        r"^(?:(?:no|nope|ok|please|for now),? )*(?:let['’]?s |just )+stick (?:w/|with|to)\b",
        r"\b(?:do|make|only) (?:\w+ (?:and )?)?(?:simple|small|minimal) "
        r"(?:edits|changes|steps)\b",
        r"\b(?:at most|no more than|not more than|at least (?:an?|one|two|three|\d+)"
        r"|no longer than|a maximum of)\b",
        r"\b(?:limit|restrict) (?:the )?(?:scope|your\w*|changes|this|it)\b|\b(?:just"
        r"|only) for now\b",
        r"\bkeep (?:it|this|that|them|the \w+|your \w+) (?:\w+ ){0,2}"
        r"(?:short|simple|small|brief|concise|minimal|minimum|lean|tight|dry|straightforward)\b",
        r"^(?!how\b|what\b).*\bas (?!best)\w+ as possible\b|\bsimplest (?:possible|way)\b"
        r"|(?<!\bat )(?<!\bat a )(?<!\bat the )\b(?:bare )?minimum\b(?! viable)"
        r"|\bonly the minimal\b|\b(?:be|stay|remain) (?:very )?(?:concise"
        r"|brief|careful)\b"
        r"|\bnothing (?:fancy|complicated)\b|\bdead simple\b|\bmost (?:basic|simple)\b",
        r"\bdependency[- ]free\b",
    ),
    rule(
        "en-preservation",
        "constraint",
        r"(?:^|(?<!yes)[,;:]\s*|\b(?:and|please|while|but)\s+)keep(?:ing)? (?:it|this|that|them|all"
        r"|every\w*|the)\b(?= (?:\S+ ){0,4}?(?:as|like|same|existing|current|original|working"
        r"|behaviou?r|functionality|logic|structure|styles?|design|api|rest|else|way)\b)",
        r"\b(?:stay|leave|left|keep|kept|remain)\b(?:\s\S+){0,4}? (?:as[- ]is|alone|untouched"
        r"|unchanged|intact)\b",
    ),
    rule(
        "en-order",
        "constraint",
        r"\bafter (?:each|every)\b(?! other)|\bonce (?:each|the) \w+ is\b"
        r"|\bas (?:each|every|(?:you|we) (?:go|progress|proceed|work))\b"
        r"|(?<!somewhere )\balong the way\b",
        r"\bbefore (?:moving|continuing|proceeding|going|doing|starting|implementing|coding|writing"
        r"|touching (?:\w+ )?(?:code|files?|anything)"
        r"|(?:making|taking|editing|touching|committing|pushing) (?:any|the|a)\b"
        r"|(?:you|we) (?:\w+ )?(?:decide|do|start|go|commit|push|write|change|touch|make|edit"
        r"|implement"
        r"|begin"
        r"|continue|proceed|move|get)"
        r"|any (?:other|further|more|code|changes?|commits?|work|edits?|implement\w*|coding))\b"
        r"(?!.*\?\s*$)"
        r"(?!(?: (?:on|anything|any further))?(?:\.{2,}|, (?:a|some) (?:few|couple)))",
        r"^(?:also |and )?before (?:you|we|just|\w+ing)\b [^,?]{3,80}, (?:please |first |just )?"
        r"(?!(?:let['’]?s|we|i|it|you|the|this|a|there|they|that)\b)\w+",
        r"^(?:(?:just|please|now|then|but|no|wait),? )*(?:do|read|check|look|plan|trace|explain"
        r"|discuss"
        r"|verify|test|review|finish|research|study|ask|investigate)\b[^,?:]{0,60}\bfirst\s*[.!]*$",
        r"\b(?:one|1)[- ]by[- ](?:one|1)\b|\bone[- ]at[- ]a[- ]time\b|\bstep[- ]by[- ]step, ",
        r"\b(?:i['’]?d|i would|we) prefer\b|\bpreferably\b",
    ),
    rule(
        "en-consent",
        "constraint",
        r"\bask (?:me )?(?:any|some|additional|clarifying|more|further|the|your|all|targeted"
        r"|\d\S*) (?:\w+ ){0,3}questions?\b|\bask (?:me|first|before|if)\b",
        r"\b(?:let me know|tell me) if you have (?:any )?(?:\w+ )?questions\b",
        r"\b(?:wait for|until|once|after) (?:my|i) (?:\w+ ){0,3}?(?:approv\w*|review\w*"
        r"|confirm\w*|ok|go)\b"
        r"|\bfor (?:me to|my) (?:review|approv)\w*\b|\bthen i['’]?(?:ll| will) (?:approve|review"
        r"|tell)\b",
        r"\b(?:see|review|approve|confirm) (?:\w+ ){0,5}?(?:each time|and approve|(?:first"
        r"|before)(?=[,.!;]|$))",
        r"\bjust (?:(?:tell|show|give) me|explain|research) (?!.*\?\s*$)\w+"
        r"|\bno code\b|\bread-only (?:work|task|mode|for now|please)\b"
        r"|\b(?:this|it|that)(?:['’]s| is) read-only\b",
    ),
    rule(
        "en-hands-off",
        "constraint",
        r"\bi(?:['’]?ll| will)(?: \S+){0,6}? myself\b",
        r"\bi['’]?ll (?:do|handle|manage|take care of) (?:the|that|this|it)\b",
        r"\bleave (?:\w+ ){0,3}?(?:to me|alone|for now|as (?:it )?is)\b",
    ),
    rule(
        "en-reminder",
        "constraint",
        r"^(?:(?:also|and|please|just|but|so|meanwhile|again),? )*(?:reme?m?ber|remind(?:er)?"
        r"|keep in mind|bear in mind|i remind you)\b"
        r"(?! me\b| when\b| that time)(?!.*\?\s*$)"
        r"|\b(?:reme?m?ber to|keep (?:this|that) in mind|i remind you)\b",
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
        r"^(?:no|nope|nah)(?:[,.!:;—-]|\s+(?:for|that|this|it|the|let['’]?s|you|i|not|wait)\b)",
        r"\bthat['’´Ä]*s not\b(?! (?:bad|all|a problem|an issue))|\bnot (?:what|how) i\b"
        r"|^not (?:that|this|like that)\b",
        r"^(?:it|this|that) should(?:n['’]?t| not)\b|\bi was talking about\b|^are you sure\b",
        r"\bshould (?:be|appear|read|say|look) \S+(?:\s\S+){0,3}, not\b",
        r"^(?:that|this|it) (?:isn['’]?t|is not|was not|wasn['’]?t) (?!bad|a problem)",
        r"^(?:actually|wait|stop|wrong|incorrect|hold on|whoa|oops|whoops)\b[,!. ]",
        r"\b(?:something|looks?|seems?|went|goes|that['’]?s|it['’]?s|this is|got it|completely"
        r"|all) wrong\b",
        r"\b(?:is|was|are|were) (?:actually|wrong|incorrect)\b|\bthe wrong \w+\b"
        r"|\byou (?:got|have|had) .{0,40}\bwrong\b",
        r"\b(?:is|are|['’]s) (?:just |all |completely |simply )*(?:bad|backwards|dumb|garbage"
        r"|no bueno|no good|not good|nonsense)\b",
        r"\bi (?:meant|said|asked|told you)\b|\bi did ?n['’]?o?t (?:mean|ask|say|want)\b",
    ),
    rule(
        "en-reproach",
        "correction",
        r"(?<!if )(?<!if that )\byou (?:\w+ )?(?:forgot|missed|broke|"
        r"misunderstood|misread|fucked|messed|screwed"
        r"|ignored|skipped|"
        r"overwrote|lost|should have|were supposed)\b"
        r"|(?<!if )\byou (?:\w+ )?(?:didn['’]?t|did not|haven['’]?t)\b",
        r"\byou(?:['’]re| are) not (?:\w+ing|even)\b|\byou should (?:know|have)\b|\boversight\b",
        r"^(?:ok,? |hmm+,? |but )?why(?:['’]d| are| did| do| would| have) you\b"
        r"|^(?:ok,? |hmm+,? |but )?why did ?n['’]?t\b"
        r"|\bare you (?:\w+ )?(?:stupid|kidding|serious)\b",
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
        r"(?:\bwe|^) ?(?:really )?(?:do ?n['’]?t|do not) (?:want|need) (?!to\b|you\b)\w+",
        r"\b(?:not sure|don['’]?t think) (?:that )?you (?!want|need|can)\w+",
        r"\bi (?:thought|expected|was expecting|would(?:['’]?ve| have)? expect\w*"
        r"|never (?:asked|said|wanted))\b(?! of\b)",
        r"(?<!thing )(?<!what )(?<!work )\byou (?:were told"
        r"|just (?:\w+ed|made|did|broke|put|took|wrote)"
        r"|are (?:just )?(?:deleting|removing"
        r"|repeating|breaking)|keep \w+ing|still|again)\b",
        r"^(?:(?:but|and|ok|also|so|now),? )*you (?:\w+ )?(?:deleted|removed|changed|hard-?coded"
        r"|duplicated"
        r"|put|made no|undid|left|mixed|renamed|cut|got cut)\b",
        r"^(?:dude|come on|c['’]mon|seriously)\s*[.,!?…]|^wth\b",
        r"\bwe (?:already|explicitly|specifically|clearly) (?:discussed|agreed|decided|said"
        r"|talked)\b"
        r"|\bi think we (?:discussed|agreed|said)\b",
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
        r"\b(?:reports?|returns?|raises?|get|gets|got|getting|sees?|seeing|saw|receiv\w+|hit"
        r"|hitting|throws?|throwing|shows?"
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
        r"\b(?:is|are|was|were|am|['’]s|['’]re) (?:\w+ )?missing\b(?!.*\?\s*$)"
        r"|\bthere are missing\b",
        r"\bkeeps? (?:getting|seeing|hitting|failing|breaking|crashing|freezing)\b"
        r"|\bstops? (?:respond|work|show|load|render|updat)ing\b"
        r"|\b(?:got|get|getting|see|seeing|receive) no\b|\bdumb\b",
        r"\b(?:i|its?|that|this|still|keep) (?:now )?(?:gets?|got|getting|gives?) (?:this|…)"
        r"(?= (?:when|while|but|in|on|after|if|even|again|msg|message)\b|\s*(?:$|:))",
        r"\b(?:works?|worked|working|good|fine|great|launched|inserts?|appearing|created"
        r"|responds)\b"
        r".{0,70}?[ ,]but (?:it(?:['’]s)? (?:is )?(?:only|just|still|does|also)|its only|only\b"
        r"|not (?:when|to|for|in|the|all|any|on)\b|no \w+ (?:were|was|are|is)\b|then (?:it|the|i)\b"
        r"|when (?:i|it|there)\b|now\b|there(?:['’]s| is| are)\b|nothing\b)(?!.*\?\s*$)",
        r"\bthere(?:['’]?s| is| are) (?:still|again|duplicat\w*|a bunch of|too many)\b"
        r"(?! (?:some )?time\b)",
        r"^(?:(?:but|and|so|ok|now|also|well|h?m+|it (?:looks|seems) like),? )*"
        r"(?:i (?:see|notice) )?"
        r"there(?:['’]?s| is| are) (?:now )?(?:no|none|not)\b"
        r"(?! (?:need|rush|hurry|problem|point|reason|way to|worries|doubt|question|issue))"
        r"(?!.*\?\s*$)",
        r"\b(?:dosn|havn|havne|hasn|haven)['’]?t "
        r"(?:been|seem|insert|work|show|chang|updat|appear)\w*",
        r"\bnow it (?!works?\b|looks? (?:good|great|better)|is (?:good|fine|working|better|ok)"
        r"|seems (?:fine|good|ok)|makes)\w+s\b(?!.*\?\s*$)",
        r"^i (?:see|notice) that\b.*\b(?:but|however)\b",
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
        r"\b(?:cannot|can['’]?t|could not|couldn['’]t) be (?:found|performed|read|opened|loaded"
        r"|inserted)\b"
        r"(?!.*\?\s*$)",
        r"^(?:(?:and|but|also|now|ok|thanks|still)[,.]? )*getting (?:this|the|an?|these|same)\b",
        r"^it['’]?s? gives\b|\bbut (?:i(?:['’]m| am)|we(?:['’]re| are)) (?:\w+ )?(?:getting"
        r"|seeing)\b",
        r"\bbut not (?:to any|the other|all|when)\b|\bnow (?:i|we|it) can (?:only|just)\b",
        r"\bshould(?:n['’]t| not) be (?:needed|necessary|there|here)\b|^why not (?:just|simply)\b",
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
        r"(?<!what )(?<!what is )(?<!what['’]s )\bstill\b"
        r"(?! (?:be|needs?|want|like|works?|working|important|useful|valid|the case"
        r"|fits?|counts?|keeps?|allows?"
        r"|think|prefer"
        r"|able|possible|used?|try|open|good|fine|great|there\?|to be|do|have (?:to|a|some)|in"
        r"|a)\b)"
        r"(?!.*\?\s*$)",
        r"\b(?:happen\w*|appear\w*|show\w*|same|did it|came back|reset\w*) again\b"
        r"|\bagain (?:the |a )?(?:problem|issue|error|bug)s?\b",
        r"\bstill seems? to\b|\bi (?:did ?n['’]?o?t|do ?n['’]?o?t|never) (?:see|saw|get|got)\b",
        r"\bwe(?:['’]re| are) (?:still )?missing\b|\bnow (?:brighter|darker|worse|slower|broken)\b",
        rf"^(?!.*\b(?:do not|don['’]?t|avoid|not make)\b).*\btoo {_WORSE}\b",
        r"\bnot (?:being |been |yet )?(?:updated|rendered|displayed|shown|"
        r"saved|applied|loaded|visible)\b",
        r"^why (?:is|are|does|do) (?:it|they|that|this)\b.*\bnot\b",
    ),
    rule(
        "en-undo",
        "correction",
        r"\b(?:undo|revert|roll back|restore) (?:that|this|it|your|the (?:change|last|commit))",
        r"\bi(?:['’]?ve)? (?:just )?(?:reverted|undid|discarded|rolled back)\b"
        r"|\brevert (?:back|the)\b"
        r"|(?<!to )\b(?:put|bring|add) (?:it|that|them|those) back\b"
        r"|\bback to (?:this|the) (?:error"
        r"|same)\b",
        r"\b(?:reverted|rolled back) (?:your|that|the|all)\b",
        r"^(?:no,? )?(?:please )?(?:try|do it) again\b(?! to\b)|\bundid (?:that|your)\b",
        r"^(?:(?:no|please|let['’]?s|and|just|then),? )*(?:go|switch|change (?:it|this"
        r"|that)) back to\b",
    ),
)
