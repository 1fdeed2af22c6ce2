"""Words that say nothing by themselves: no terms of BM25, and in a model read but not pooled.

English has Lucene's classic list, the one BM25 baselines are usually reported with. Other languages have those of
Stopwords ISO (package `stopwordsiso`, MIT), which is imported only where one is asked for; four that it lacks have a
short list of ours: articles, pronouns, prepositions, conjunctions and forms of "to be".
"""

from lexigraft.core.errors import MissingExtraError, SettingError
from lexigraft.core.settings.languages import LANGUAGES, STOPWORDS

NO_STOPWORDS = "none"

ENGLISH = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such "
    "that the their then there these they this to was will with".split()
)

_CODES = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "czech": "cs", "danish": "da", "dutch": "nl",
    "esperanto": "eo", "estonian": "et", "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi",
    "hungarian": "hu", "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt", "norwegian": "no",
    "persian": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "sesotho": "st",
    "spanish": "es", "swedish": "sv", "turkish": "tr",
}  # fmt: skip

_OUR_LISTS = {
    "nepali": "र को का की ले लाई मा बाट देखि सम्म संग सँग पनि यो त्यो यी ती हो छ छन् थियो थिए भयो गर्न गरेको भने तर वा कि नै "
    "म हामी तिमी तपाईं उनी उनले मैले यस त्यस जुन जो के अनि तथा एक",
    "serbian": "i u na je se da su za od do o s sa a ali ili iz po ne nije sam si smo ste bi bio bila bilo biti će "
    "ću ćeš ćemo kao koji koja koje što šta to ta taj te ti mi vi on ona ono oni mu joj ga ih nas vas pa jer kad kada "
    "ako li još samo već pri pre posle kod iznad ispod "
    "и у на је се да су за од до о с са а али или из по не није сам си смо сте би био била било бити ће ћу ћеш ћемо "
    "као који која које што шта то та тај те ти ми ви он она оно они му јој га их нас вас па јер кад када ако ли још "
    "само већ при пре после код изнад испод",
    "tamil": "ஒரு என்று மற்றும் இந்த இது என்ற கொண்டு என்பது பல அல்லது அவர் நான் அந்த அவர்கள் நாம் நீ நீங்கள் அவன் அவள் அது "
    "ஆனால் என இவர் இவை அவை உள்ள உள்ளது இருந்து மூலம் மேலும் பின்னர் எந்த எனவே",
    "yiddish": "דער די דאָס דאס דעם און אין איז צו פֿון פון פאַר פאר מיט אויף אַז אז אַ א אַן אן איך דו ער זי עס מיר "
    "איר זיי זיך ניט נישט וואָס וואס ווי אָבער אבער אָדער אדער זיינען זענען געווען האָט האט האָבן האבן וועט אויך ביי",
}


def stopwords(name: str, setting: str = "stopwords") -> frozenset[str]:
    """The list of a language; "none" is an empty one. `setting` is for messages."""
    if name == "english":
        return ENGLISH
    if name == NO_STOPWORDS:
        return frozenset()
    if name in _OUR_LISTS:
        return frozenset(_OUR_LISTS[name].split())
    if name not in LANGUAGES:
        raise SettingError(f"{setting} = {name!r} is not allowed: one of {', '.join(STOPWORDS)}")
    try:
        import stopwordsiso
    except ImportError as error:
        remedy = f"pip install stopwordsiso, or set {setting}=none"
        raise MissingExtraError(f"{setting} = {name!r}", "stopwordsiso", remedy) from error
    return frozenset(stopwordsiso.stopwords(_CODES[name]))
