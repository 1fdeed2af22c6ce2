"""Frequent function words by language, from which a text's language is told (`language.py`).

Articles, pronouns, prepositions, conjunctions and forms of "to be", as they are written (lower case, with accents).
Every language with a stemmer that shares its script with another one has a list. So have their neighbours without a
stemmer: Slovak would pass for Czech if nobody knew Slovak.
"""

LATIN = {
    "english": "the of and to in is that it for was on are as with his they be at this have from or by not but what "
    "all were we when your can an which their will if been has would there than into its",
    "german": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden "
    "aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber "
    "vor zur",
    "dutch": "de van een het en in is dat op te zijn met voor niet aan er die door om ook als maar uit bij naar ze "
    "hij was of tot wordt worden deze dit nog over kan heeft hebben je ik zo dan wel werd geen hun",
    "afrikaans": "die van en in is het dat te nie wat vir om met op as was sy hy aan ek word sal deur hulle ook sê "
    "kan jy dit haar my ons so na by uit daar maar een wees hierdie nog",
    "danish": "og i at det er en til af på den for med der ikke de som et har var fra han eller om blev men sig kan "
    "vil skal være efter også så hvor mod ved nogle hvad meget noget jeg havde når bliver hvis mange deres",
    "norwegian": "og i det på en som er til for av at med har den ikke de et om var han fra seg så vil ble kan men "
    "jeg sier etter skal hun være også eller mellom hva noen mye noe når bli der hvis blir deres da mot",
    "swedish": "och i att det som en på är av för med till den har de inte om ett han men var jag från så sig kan "
    "eller också efter när vid man hade ska vi där hon här mot bara vad alla nu under mellan blir dessa",
    "icelandic": "og að í á er sem til við um með fyrir ekki var það hann af en frá hún þeir þess þar eru hefur þau "
    "svo þegar eða verið þá sér eftir hafa upp mjög því þetta",
    "french": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec "
    "ou son aux cette ses mais comme on nous être elle leur ont fait d l qu c n s été même deux entre",
    "spanish": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me "
    "si sin sobre este ya entre cuando todo esta ser son dos también fue había era muy años hasta desde está",
    "catalan": "de la i que el en a un per els no les una es amb del l d al més com va s pel dels o seva ha són ser "
    "també aquest aquesta entre però seu molt han sobre ja quan hi fins dos està tot",
    "galician": "de a o e que do da en os un no na unha as para por con se dos non máis ao ou como é foi seu mais "
    "das súa pola polo aos entre ten onde tamén son sobre moi cando xa hai nos está",
    "portuguese": "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das "
    "tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso ela entre era são depois",
    "italian": "di e il la che in a per un del non una della è con i da le si al dei più alla sono nel gli come "
    "anche ha delle lo se ma dal tra o l nella questo suo essere stato ai su cui degli dell dalla era fra molto",
    "romanian": "de și în a la cu care pe nu din este un o să mai că al ale pentru fost sunt au prin se cel ce lui "
    "după sau ei fi unei lor era fiind dar între către această acest şi foarte când",
    "polish": "w i na z się do nie jest że to o jak ale po co tak za od są przez oraz dla być ma też był jego czy "
    "który która które ich przy gdy jako było może tego tylko można ze już roku jednak",
    "czech": "a v se na je že s z do to i o by jak ale za pro jsou ve po k jako od si tak který která které nebo "
    "byl jeho bylo při když má až jen další také být však mezi podle před může není přes",
    "slovak": "a v sa na je že s z do to i o by ako ale za pre sú vo po k od si tak ktorý ktorá ktoré alebo bol "
    "jeho bolo pri keď má až len ďalšie tiež byť však medzi podľa pred môže nie cez ich aj už čo",
    "slovenian": "je in v na se za da so z ki pa ne bi s ali pri po tudi od do kot še iz o bil bila ni ko kako "
    "lahko med ga jih samo biti že saj ter smo ta to tem kar bilo sem",
    "serbian": "i u je na da se su za od a o sa do iz po ne koji kao s ili ali nije bi koja koje će to bio biti "
    "bila što ako samo jer kada bilo može između prema sve već te pri zbog ima",
    "hungarian": "a az és hogy nem is egy volt meg de van csak már még ha el mint ez vagy azt kell lehet után ki "
    "sem ezt akkor le mert minden között azonban amely ami olyan fel be lesz által szerint nagyon",
    "finnish": "ja on ei se että oli mutta kun hän ovat myös tai kuin joka sen en hänen ole jotka sitä niin vain "
    "jos mukaan nyt tämä mitä vielä sekä kanssa ollut olla voi jo minä tämän jonka siitä joita sitten",
    "estonian": "ja on ei et see oli kui ka mis aga oma selle ta või nii mida seda olid mille kes ning ma siis kuid "
    "veel välja juba võib ole pärast nagu üle mitte kõik tema selles peab väga",
    "latvian": "un ir no ka ar par uz lai arī kas bija tiek vai pie bet šo to kā tā ko nav gan var pēc tas viņš "
    "pret līdz savu kad būt viņa tikai vairāk ja jau šī ļoti starp",
    "lithuanian": "ir yra į kad su tai buvo iš kaip ar bet jo už taip dėl nuo apie tik o jis po iki prie pat gali "
    "kurie labai jau būti arba tarp jų kuris kai per savo šis visi ne nėra kur jie",
    "turkish": "ve bir bu da de için ile çok ne olarak daha gibi olan var kadar o en ama sonra her ya ki mi olduğu "
    "değil göre ise tarafından şey ben ilk veya iki kendi olur bütün nasıl onun diye yok büyük",
    "indonesian": "yang dan di dengan untuk ini dari pada itu tidak dalam adalah ke akan oleh juga telah saya atau "
    "dapat lebih karena ada tersebut kita sebagai mereka bisa para kami sudah harus satu anda ia secara",
    "irish": "an na agus ar is le go a do ag i bhí sé sa seo leis gur ach tá sin atá ó ní den don nach mar siad as "
    "iad idir faoi bheith féin chun aon raibh bhfuil é nó tar",
    "basque": "eta da du ez bat ere izan dira egin dute zen hau baina hori bere zuen dela edo den beste izango dago "
    "gero baino dituzte oso nola horrek ziren duen hala bezala arte guztiak behar badu",
    "esperanto": "la kaj de en estas al ne por kun el ke oni tiu ili mi vi li ĝi sed sur per aŭ kiu estis kiel "
    "ankaŭ si da pri tio nur kiuj pli post ĉi ĉiuj inter havas tre kiam esti unu ĝis",
    "sesotho": "le ba ka ho ya sa mo hore tsa wa ha ke o ea bona ena empa eo oa tse lona lena tla bile haholo batho "
    "bohle motho kapa leha hae jwalo tseo yena eona re ne ntse eng",
    "vietnamese": "và của là có trong được cho không một những với các người này đã để khi từ ở ra đến như cũng về "
    "tôi nhiều đó sẽ trên phải vào nhưng năm theo thì hay làm",
    "albanian": "të dhe në e i një për me që se nga nuk më është janë ka si do ishte u por tij kjo pas ky shumë "
    "edhe kanë mund ose sipas gjatë tyre ai",
    "swahili": "na ya wa kwa ni katika la za kuwa cha hii kama lakini vya hiyo watu pia huo yake hilo ambao baada "
    "hivyo zaidi wao bila kila",
}

CYRILLIC = {
    "russian": "и в не на что с по как а это к из у от для о за он то я но же так его бы был было все до или также "
    "еще ещё если когда только может этого быть они который которые уже при мы чтобы их со",
    "serbian": "и у је на да се су за од а о са до из по не који као с или али није би која које ће то био бити "
    "била што ако само јер када било може између према све већ те при због има",
    "ukrainian": "і в на не що з до у як та за це від про для він його є а але чи був було або також ще якщо коли "
    "тільки може бути вони який які вже при ми щоб їх зі під й",
    "belarusian": "і ў на не што з да у як па за гэта ад для ён яго а але ці быў было або таксама яшчэ калі толькі "
    "можа быць яны які якія ўжо пры мы каб іх са я",
    "bulgarian": "на и в за се от да е с по не са че като до през при след ще които или той към което това беше има "
    "без но може само най много си също между как бъде още ги който която",
    "macedonian": "на и во за се од да е со по не дека како до при ќе кои или тој кон тоа беше има без но може само "
    "најмногу си исто меѓу биде уште ги која кој кое што овој",
}

ARABIC = {
    "arabic": "في من على إلى أن عن هذا التي الذي مع ما لا كان هذه كما وقد بعد أو لم كل قد ذلك بين هو هي ثم حتى وكان "
    "غير حيث إن عند لكن يكون أي منذ تم",
    "persian": "و در به از که این را با است برای آن یک خود تا بر بود شد می هم نیز شده ها اما یا کرد دارد باید هر "
    "کند بین پس اگر ما همه دیگر چه بی شود باشد آنها",
    "urdu": "کے میں کی ہے اور سے کا کو پر نے کہ یہ ہیں ایک تھا بھی اس ہو کر لیے تو نہیں وہ تھے ان جو گیا تک یا کیا "
    "ساتھ رہے اپنے",
}

DEVANAGARI = {
    "hindi": "के में की है और से का को पर ने कि यह हैं एक भी नहीं था इस हो कर लिए तो वह थे जो गया तक या अपने साथ थी "
    "ही इसके करने लेकिन कुछ सकता",
    "nepali": "छ को मा र ले पनि हो यो गर्न भने छन् भएको गरेको लागि थियो तर वा यस एक हुन् त्यो उनले भन्ने नै गर्ने "
    "हुने सबै अनि तथा हामी उनी देखि हुन्छ",
    "marathi": "आहे आणि या ते होते च्या हे तो आहेत करून एक पण होता झाला ही त्या नाही त्यांनी केले म्हणून व असे "
    "मध्ये त्याच्या काही साठी होती मात्र",
}

HEBREW = {
    "yiddish": "דער די דאָס דאס דעם און אין איז צו פֿון פון פאַר פאר מיט אויף אַז אז אַ א אַן אן איך ער זי עס מיר "
    "איר זיי זיך ניט נישט וואָס וואס ווי אָבער אבער אָדער אדער זענען האָט האט האָבן האבן אויך ביי",
    "hebrew": "של את על לא הוא עם זה כי אני היא גם או כל מה היה בין אבל אם יותר הם זו לו רק כמו עד אך אשר ידי היו "
    "לאחר אין יש כדי אל",
}
