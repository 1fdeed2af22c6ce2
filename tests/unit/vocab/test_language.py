"""The language of texts: named where it is clear, and not where it is not."""

import pytest

from lexigraft.core.settings.languages import LANGUAGES
from lexigraft.vocab.language import ONLY_LANGUAGE, WORDS_BY_SCRIPT, guess_language, word_options
from lexigraft.vocab.stems import stemmer
from lexigraft.vocab.stopwords import stopwords
from lexigraft.vocab.words import split_words

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
    None: "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。使用 numpy 和 "
    "Python 的函数。",
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


@pytest.mark.parametrize("language", TEXTS)
def test_a_few_sentences_name_their_language(language):
    guess = guess_language([TEXTS[language]])
    assert guess.sure, guess.because
    assert (guess.language, guess.stemmer, guess.stopwords) == (language, language, language)
    stemmer(guess.stemmer, "here")  # both exist
    assert stopwords(guess.stopwords)


@pytest.mark.parametrize("language", WITHOUT_STEMMER)
def test_neighbours_without_a_stemmer_are_not_taken_for_those_with_one(language):
    guess = guess_language([WITHOUT_STEMMER[language]])
    assert guess.sure, guess.because
    assert (guess.language, guess.stemmer, guess.stopwords) == (language, "none", "none")


@pytest.mark.parametrize(
    ("texts", "because"),
    [
        ([], "0 letters are too few"),
        (["", "12 34 !!", "ok"], "2 letters are too few"),
        ([TEXTS["english"], TEXTS["german"]], "too few words tell"),
        ([TEXTS["english"], TEXTS["russian"]], "several scripts: "),
        ([CODE], "too few words tell English from"),
        (["\ufe70" * 50], "its 50 letters make no word"),  # NFKC makes a space and an Arabic accent of each
        (["Kettle steel 1.7 l", "Teapot porcelain white", "Mug blue handmade stoneware"], "only 9% of 11 words"),
    ],
)
def test_unsure_where_nothing_decides(texts, because):
    guess = guess_language(texts)
    assert not guess.sure and guess.language is None
    assert because in guess.because
    assert guess.stemmer == "english"  # the default
    assert word_options(guess, ("lexical", "vocab")) == []


def test_texts_of_two_languages_count_by_how_much_there_is():
    assert guess_language([TEXTS["german"]] * 9 + [TEXTS["english"]]).language == "german"


def test_options():
    german, korean = guess_language([TEXTS["german"]]), guess_language([WITHOUT_STEMMER["korean"]])
    assert word_options(german, ("lexical",)) == ["--set lexical.stemmer=german"]
    assert word_options(german, ("lexical", "vocab")) == ["--set lexical.stemmer=german", "--set vocab.stemmer=german"]
    assert word_options(korean, ("lexical",)) == ["--set lexical.stemmer=none", "--set lexical.stopwords=none"]
    assert word_options(guess_language([TEXTS["english"]]), ("lexical", "vocab")) == []


def test_every_language_with_a_stemmer_can_be_found():
    listed = {language for lists in WORDS_BY_SCRIPT.values() for language in lists} | set(ONLY_LANGUAGE.values())
    assert {*LANGUAGES, "english"} <= listed


def test_lists_are_as_texts_are_normalised():
    for lists in WORDS_BY_SCRIPT.values():
        for language, words in lists.items():
            assert [split_words(word) for word in words.split()] == [[word] for word in words.split()], language
            assert len(words.split()) == len(set(words.split())) > 25, language
