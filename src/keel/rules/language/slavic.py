"""Russian, Ukrainian, Polish and Turkish words by concept; `*` ends a stem."""

# ruff: noqa: RUF001 - words of other scripts and letters
from keel.rules.language.concepts import Concept

C = Concept

WORDS: dict[Concept, str] = {
    C.IGNORE: (
        "игнорируй игнорируйте игнорировать проигнорируй* забудь* забудьте забыть отмени отмените пренебреги*"
        " не_обращай_внимания не_обращайте_внимания отбрось* ігноруй* zignoruj* ignoruj* zapomnij* yoksay*"
        " görmezden_gel* unut* dikkate_alma*"
    ),
    C.ORDERS: (
        "инструкци* указани* распоряжени* директив* приказ* ограничени* промпт* інструкці* вказівк* instrukcj*"
        " polece* talimat* yönerge* komut*"
    ),
    C.RULES: "правил* политик* настройк* zasad* reguł* kural*",
    C.PRIOR: (
        "предыдущ* прежн* ранее предшеству* вышеуказанн* выше исходн* попередн* poprzedni* wcześniejsz* powyższ*"
        " önceki daha_önceki yukarıdaki"
    ),
    C.YOUR: ("ты тебя тебе твой твои твою вы вас вам ваш* своего свои twoj* twój swoj* senin sana sizin"),
    C.SYSTEM: "систем* разработчик* оператор* system* sistem*",
    C.USER: "пользовател* юзер* человек* людям клиент* користувач* użytkownik* kullanıcı*",
    C.OBEY: "следуй* выполняй* подчиняй* stosuj* uy",
    C.VOID: "недействительн* отменен* устарел* больше_не_действуют geçersiz nieaktualne",
    C.MODE: ("теперь_ты отныне ты_теперь вы_теперь новые_инструкции с_этого_момента od_teraz bundan_sonra artık_sen"),
    C.WIN: "заменяет заменяют имеют_приоритет имеет_приоритет zastępuj* yerine_geçer",
    C.NEG: ("не ни никогда нельзя без ніколи nie nigdy bez hiçbir asla söyleme* bildirme* bahsetme* haber_verme*"),
    C.TELL: (
        "сообщай* сообщать сообщи* говори* говорить рассказывай* рассказывать упоминай* упоминать информируй*"
        " уведомляй* раскрывай* скажи* знать узнал* узнать повідомляй* кажи* mów mówić informuj* wspominaj*"
        " pokazuj* powiedz* söyleme* bildirme* bahsetme* haber_verme*"
    ),
    C.HIDE: ("тайно скрытно незаметно скрой* скрывай* умолчи* втайне таємно potajemnie ukryj* gizlice gizle*"),
    C.SEND: (
        "отправь* отправляй* отправить отправив передай* передавай* передать перешли* пришли приложи* прикрепи*"
        " включи* вставь* вставить добавь* скопируй* скопировать загрузи* помести* запиши* вышли* подставь* укажи*"
        " надішли* додай* wyślij* przekaż* dołącz* wklej* skopiuj* umieść gönder* ekle* kopyala* ilet* yaz"
    ),
    C.READ: ("прочитай* прочти* прочесть читай* открой* собери* получи* прочитати зчитай* przeczytaj* odczytaj* oku*"),
    C.CONTENT: "содержим* значени* вміст* zawartość* içeriğ*",
    C.SECRET_FILE: "ssh-ключ*",
    C.SECRET: (
        "парол* токен* ключ* секрет* учетн* учётн* паролі hasł* klucz* poświadcze* sekret* parola* şifre*"
        " anahtar* gizli_anahtar* переменн*_окружения переменные_окружения переменных_окружения"
    ),
    C.PERSONAL: "номер_карты снилс кредитной_карты",
    C.CONTEXT: (
        "переписк* истори* диалог* разговор* чат* беседы беседу системный_промпт системного_промпта розмов*"
        " rozmow* historia historię historii geçmiş* konuşma* sohbet* sistem_istemi"
    ),
    C.EVERY: ("все всех всю весь любой любого любым любых кажд* полн* целиком всі wszystk* każd* cał* tüm bütün"),
    C.OTHER: "друг* остальн* инш* inny inna inne innych innym pozostał* diğer başka",
    C.TOOL: "инструмент* функци* інструмент* narzędzi* funkcj* araç* aracı* fonksiyon*",
    C.THIS: "этот эту это этим этого цей tego",
    C.CALL: (
        "вызови* вызывай* вызвать используй* использовать запусти* запускай* применяй* викликай* використовуй*"
        " wywołaj* użyj* używaj* uruchom* çağır* kullan*"
    ),
    C.FIRST: "перед прежде сначала до_того перед_тим сперва przed najpierw önce ilk_olarak",
    C.INSTEAD: "вместо замість zamiast yerine",
    C.MUST: ("должен должна должны обязательно всегда необходимо обязан* musisz zawsze koniecznie mutlaka zorunlu"),
    C.APPROVE: ("подтвержд* подтверди* разрешени* одобрени* согласи* potwierdz* zgod* zezwol* onay* izin*"),
    C.ASK: (
        "спрашивай* спросить спроси* запрашивай* запроси* жди* ожидай* попроси* pytaj* zapytaj* poproś* czekaj*"
        " soru sorma"
    ),
    C.AUTO: "уже_одобрено уже_подтверждено автоматически_одобр* już_zatwierdzon*",
    C.OFF: "без отключи* пропусти* обойди* wyłącz* pomiń*",
    C.AUTHORITY: "администратор* служба_безопасности administrator*",
    C.RESULT: "результат* ответ* вывод* wynik* odpowiedź* sonuç*",
    C.EXECUTE: "выполняй* выполни* исполняй* wykonaj* wykonuj* uygula* çalıştır*",
    C.MEMORY: "память памяти долговременн* pamięc* hafıza*",
    C.STORE: "сохрани* запомни* запиши* zapisz* zapamiętaj* kaydet*",
    C.FOREVER: "навсегда постоянно na_zawsze sonsuza_kadar",
    C.MODEL: "ассистент* помощник* агент* модел* asystent* asistan*",
    C.TURN: "разговор* сесси* сообщени* запрос* ответ* rozmow* sesj* konuşma* oturum*",
    C.DEPRECATED: "устарел* небезопас* przestarzał*",
    C.PRINT: "выведи* напечатай* покажи* раскрой* повтори* wypisz* pokaż* yazdır*",
    C.DETECT: "обнаруж* атак* инъекц* wykrywa*",
    C.VERBATIM: "дословно полностью слово_в_слово dosłownie kelimesi_kelimesine",
    C.TALK: "отвечать ответь отвечай* ответом odpowiedz* cevap*",
    C.SOFAR: "до_сих_пор dotychczas şimdiye_kadar",
    C.STEP: "отправк* передач* копи* шаг* вызов* krok* adım*",
}
