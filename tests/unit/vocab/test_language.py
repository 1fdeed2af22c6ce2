"""The language of texts: named where it is clear, and not where it is not."""

import sys

import pytest

from lexigraft.core.settings.languages import LANGUAGES
from lexigraft.vocab.language import guess_language
from lexigraft.vocab.stems import stemmer
from lexigraft.vocab.stopwords import stopwords
from tests.guessing import needs_cld2

TEXTS = {
    "english": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood. If it rains, we will stay at home.",
    "german": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen. Der Hund ist im Garten und spielt mit dem "
    "Ball.",
    "french": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et "
    "de conscience et doivent agir les uns envers les autres dans un esprit de fraternité. L'été n'est pas fini.",
    "spanish": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de "
    "razón y conciencia, deben comportarse los unos con los otros. El perro está en el jardín, pero no quiere salir.",
    "portuguese": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
    "consciência, devem agir uns para com os outros. O cão está no jardim, mas não quer sair com a gente.",
    "italian": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e "
    "di coscienza e devono agire gli uni verso gli altri. Il cane è nel giardino, ma non vuole uscire con la palla.",
    "catalan": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de raó i de "
    "consciència, i han de comportar-se amb els altres. El gos és al jardí però no vol sortir amb la pilota.",
    "dutch": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met verstand "
    "en geweten, en het is niet goed om dat te vergeten. De hond is in de tuin en speelt met een bal voor het huis.",
    "swedish": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och "
    "samvete och bör handla gentemot varandra i en anda av broderskap. Hunden är inte här men den kommer till oss.",
    "danish": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og "
    "samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Hunden blev ikke set efter at den løb ud "
    "af huset, og nogle mente også at den havde været meget bange.",
    "finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Hän sanoi, että se ei "
    "ole totta, mutta kun he tulivat, niin kaikki oli jo tehty. Se on hyvä, jos hän ei ole siellä.",
    "polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni "
    "rozumem, ale nie zawsze z niego korzystają. To jest pies, który nie chce się bawić, bo jest już zmęczony.",
    "czech": "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a "
    "mají spolu jednat v duchu bratrství. Pes je na zahradě, ale nechce si hrát, protože už je unavený. Kniha, "
    "která byla na stole, je pro tebe, nebo není?",
    "turkish": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Bu köpek çok yorgun olduğu için "
    "bir daha oynamak istemiyor, ama sonra yine gelir. Ev ile bahçe kadar büyük değil.",
    "indonesian": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak yang sama. Anjing itu ada di kebun "
    "dan tidak ingin bermain dengan bola karena sudah lelah dari pagi.",
    "hungarian": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. A kutya a kertben van, de "
    "nem akar játszani, mert már fáradt. Azt mondta, hogy ez csak egy könyv volt.",
    "russian": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом, и это "
    "не то, что мы забываем. Собака была в саду, но она уже не хотела играть, как это бывает по утрам.",
    "serbian": "Сва људска бића рађају се слободна и једнака у достојанству и правима. Пас је у башти, али није "
    "хтео да се игра, јер је већ био уморан. То је књига која је била на столу.",
    "arabic": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. كان الكلب في الحديقة ولكن لم يكن يريد أن يلعب مع "
    "الولد الذي جاء من البيت إلى المدرسة بعد ذلك على عجل ثم ذهب",
    "persian": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند. این کتاب را برای آن مرد "
    "که در خانه است خریدم و او را دیدم",
    "hindi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। कुत्ता बगीचे "
    "में है और वह खेलने के लिए नहीं आया है।",
    "greek": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "tamil": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும் உரிமைகளிலும் சமமானவர்கள்.",
}
WITHOUT_STEMMER = {
    "slovak": "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv. Pes je v záhrade, "
    "ale nechce sa hrať, pretože už je unavený. Kniha, ktorá bola na stole, je pre teba, alebo nie?",
    "ukrainian": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Собака був у саду, але він "
    "вже не хотів гратися, як це буває. Це книга, що була на столі, і він її взяв.",
    "korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. Python 함수를 사용합니다.",
    "chinese": "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。使用 numpy 和 "
    "Python 的函数。",
}
TITLES = {
    "german": ["Roter Schuh", "Blauer Hut", "Wanderstiefel Leder braun"],
    "french": ["Chaussures rouges", "Chapeau bleu", "Veste verte imperméable"],
    "finnish": ["punainen kenkä", "sininen hattu"],
    "korean": ["빨간 신발", "파란 모자", "학교에서"],
    "english": ["red shoe", "blue hat", "green jacket", "leather boots"],
}
CODE = """
def parse_date(value: str) -> datetime | None:
    for pattern in PATTERNS:
        match = re.match(pattern, value)
        if match is not None:
            return datetime(int(match.group(1)), int(match.group(2)))
    return None
static int max(int a, int b) { return a > b ? a : b; }
x = [i ** 2 for i in range(10) if i % 2]; printf("%d", x);
"""


@needs_cld2
@pytest.mark.parametrize("language", TEXTS)
def test_a_few_sentences_name_their_language(language):
    guess = guess_language([TEXTS[language]])
    assert guess.sure and not guess.mixed, guess.because
    assert (guess.language, guess.stemmer, guess.stopwords) == (language, language, language)
    stemmer(guess.stemmer, "here")  # both exist
    assert stopwords(guess.stopwords)


@needs_cld2
@pytest.mark.parametrize("language", WITHOUT_STEMMER)
def test_neighbours_without_a_stemmer_are_not_taken_for_those_with_one(language):
    guess = guess_language([WITHOUT_STEMMER[language]])
    assert (guess.language, guess.stemmer, guess.stopwords) == (language, "none", "none")


@needs_cld2
@pytest.mark.parametrize("language", TITLES)
def test_titles_have_a_language_without_articles(language):
    assert guess_language(TITLES[language]).language == language


@needs_cld2
@pytest.mark.parametrize(
    ("texts", "because"),
    [
        ([], "0 letters are too few"),
        (["", "12 34 !!", "ok"], "2 letters are too few"),
        (["Roter Schuh"], "10 letters are too few"),
        (["x9 qq7 zzx", "kjh wqp vbn", "zxq jkw"], "21 letters do not tell"),
        (["\ufe70" * 50], "50 letters do not tell"),
        (["Kettle steel 1.7 l", "Teapot porcelain white", "Mug blue handmade stoneware"], "do not tell"),
    ],
)
def test_unsure_where_nothing_decides(texts, because):
    guess = guess_language(texts)
    assert not guess.sure and guess.language is None
    assert because in guess.because
    assert (guess.stemmer, guess.stopwords) == ("english", "english")
    assert guess.line.startswith("language: unsure (")


def test_code_is_english_or_unsure():
    assert guess_language([CODE]).stemmer == "english"


@needs_cld2
def test_of_several_languages_the_one_with_most_text_is_taken_and_all_are_named():
    german = guess_language([TEXTS["german"], TEXTS["german"] + TEXTS["german"][:40], TEXTS["english"]])
    assert german.mixed and german.language == german.stemmer == "german"
    assert german.line.startswith("language: mostly German (") and ", English " in german.line
    english = guess_language([TEXTS["english"]] * 2 + [TEXTS["russian"]])
    assert english.mixed and "Russian" in english.because
    assert not guess_language([TEXTS["german"]] * 19 + [TEXTS["english"]]).mixed


@needs_cld2
@pytest.mark.parametrize("character", ["\0", "\x0c", "\ud800", "\uffff", "\U0010ffff", "\ue000", "\x85"])
def test_characters_that_the_library_refuses(character):
    assert guess_language([character.join(TEXTS["german"])]).sure in (True, False)
    assert guess_language([TEXTS["german"] + character, character]).language == "german"


@needs_cld2
def test_markup_says_nothing():
    assert guess_language([f'<html lang="fr"><p lang="fr">{TEXTS["german"]}</p></html>']).language == "german"


def test_without_the_library_texts_are_read_as_english(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycld2", None)
    guess = guess_language([TEXTS["german"]])
    assert (guess.sure, guess.stemmer) == (False, "english")
    assert "pip install pycld2" in guess.line


@needs_cld2
def test_every_language_with_a_stemmer_can_be_found():
    import pycld2

    assert {name.upper() for name in (*LANGUAGES, "english")} <= set(pycld2.DETECTED_LANGUAGES)
