"""German and Dutch words by concept; `*` ends a stem."""

from keel.rules.language.concepts import Concept

C = Concept

WORDS: dict[Concept, str] = {
    C.IGNORE: (
        "ignoriere ignorieren ignorier ignoriert_alle vergiss vergessen missachte missachten beachte_nicht"
        " übergehe übergehen überschreibe setze_außer_kraft hebe_auf negeer vergeet negeren verwirf"
        " lass_außer_acht ignorieren_sie setz_dich_hinweg"
    ),
    C.ORDERS: (
        "anweisung* instruktion* weisung* vorgabe* befehl* direktive* systemprompt* systemanweisung* instructies"
        " opdrachten beschränkung* einschränkung*"
    ),
    C.RULES: ("regel regeln richtlinie richtlinien einstellungen regels richtlijnen sicherheitsregeln"),
    C.PRIOR: (
        "vorherige* bisherige* vorige* frühere* vorangegangene* vorhergehende* obige* obenstehende*"
        " ursprüngliche* eerdere vorige bovenstaande bestehende*"
    ),
    C.YOUR: "du dein* dich ihr ihre ihren ihrer sie je jouw u uw",
    C.SYSTEM: "system systems betreiber* entwickler* plattform",
    C.USER: "benutzer* nutzer* anwender* mensch* kunde* kunden gebruiker* person",
    C.OBEY: "befolge befolgen folge folgen gehorche volg volgen",
    C.VOID: ("ungültig aufgehoben hinfällig veraltet außer_kraft gelten_nicht_mehr gilt_nicht_mehr vervallen"),
    C.MODE: (
        "du_bist_jetzt du_bist_nun ab_jetzt ab_sofort von_nun_an sie_sind_jetzt neue_anweisungen wartungsmodus"
        " vanaf_nu je_bent_nu"
    ),
    C.WIN: "ersetzt ersetzen vorrang vervangt vervangen haben_vorrang hat_vorrang",
    C.NEG: ("nicht nichts kein* nie niemals ohne weder niet geen nooit zonder keinesfalls vermeide"),
    C.TELL: (
        "sage sag sagen erwähne erwähnen erzähle erzählen informiere informieren mitteilen teile verrate verraten"
        " benachrichtige wissen erfahren melde zeg vertel vertellen noem melden laat_weten hinweisen offenlege"
        " mitzuteilen erfährt weiß merkt bemerkt erwähnt davon"
    ),
    C.HIDE: ("heimlich verdeckt unbemerkt verberge verbergen verschweige verschweigen verstecke geheim_halten stiekem"),
    C.SEND: (
        "sende senden schicke schicken übermittle übermitteln übergib übergeben füge hänge anhängen lade_hoch"
        " hochladen kopiere kopieren leite weiterleiten gib schreibe trage setze übertrage verzend stuur kopieer"
        " voeg_toe plaats sende_sie einfügen beifügen mitschicken mitsenden anfügen packe lege"
    ),
    C.READ: ("lies lesen lese öffne öffnen hole holen sammle sammeln lees open ophalen auslesen einlesen"),
    C.CONTENT: "inhalt inhalte inhalts wert_von text_von inhoud",
    C.SECRET_FILE: "ssh-schlüssel umgebungsdatei",
    C.SECRET: (
        "passwort passwörter kennwort kennwörter zugangsdaten geheimnis* schlüssel zugangsschlüssel"
        " privatschlüssel anmeldedaten wachtwoord* sleutel* umgebungsvariable* api-schlüssel"
    ),
    C.PERSONAL: "kreditkarte* kreditkartennummer sozialversicherungsnummer geburtsdatum",
    C.CONTEXT: (
        "gespräch* gesprächsverlauf* chatverlauf* verlauf unterhaltung* systemprompt* dialog* nachrichtenverlauf"
        " konversation* gesprek chatgeschiedenis"
    ),
    C.EVERY: (
        "alle allen aller alles jede jeder jedem jeden jedes sämtliche* gesamte* vollständige* ganze* komplette*"
        " elke ieder* volledige hele beliebige*"
    ),
    C.OTHER: "andere anderen anderem anderer anderes übrige* sonstige* weitere*",
    C.TOOL: "werkzeug* tool tools funktion funktionen gereedschap functie",
    C.THIS: "diese dieser dieses diesem diesen dit deze",
    C.CALL: (
        "rufe ruf rufen aufrufen benutze benutzen verwende verwenden nutze nutzen ausführen aufgerufen verwendet"
        " gebruik gebruiken roep_aan starte aufzurufen führe"
    ),
    C.FIRST: "vor zuerst bevor zunächst als_erstes voor eerst voordat zu_beginn",
    C.INSTEAD: "anstatt anstelle statt stattdessen in_plaats_van",
    C.MUST: (
        "muss musst müssen immer zwingend verpflichtend unbedingt stets moet moeten altijd verplicht wichtig soll"
    ),
    C.APPROVE: (
        "bestätigung* bestätigen bestätige genehmigung* zustimmung* erlaubnis* freigabe* einwilligung*"
        " bevestiging toestemming goedkeuring rückfrage* nachfrage*"
    ),
    C.ASK: (
        "frage frag fragen bitte warte warten verlange fordere frage_nach vraag wacht verlangen erfrage nachfragen"
    ),
    C.AUTO: ("automatisch_genehmigt bereits_genehmigt bereits_bestätigt vorab_genehmigt automatisch_bestätigen"),
    C.OFF: "ohne deaktiviere deaktiviert überspringe überspringen zonder umgehe umgehen",
    C.AUTHORITY: "administrator* sicherheitsteam* systemhinweis",
    C.RESULT: "ergebnis* ausgabe* antwort* resultaat uitvoer",
    C.EXECUTE: "befolge befolgen ausführen führe",
    C.MEMORY: "gedächtnis langzeitgedächtnis geheugen",
    C.STORE: "speichere speichern merke schreibe sla_op bewaar onthoud",
    C.FOREVER: "dauerhaft für_immer permanent voor_altijd",
    C.MODEL: "assistent* agent agenten modell modells model",
    C.TURN: "gespräch* sitzung* nachricht* anfrage* antwort* gesprek sessie bericht",
    C.DEPRECATED: "veraltet unsicher gefährlich verouderd onveilig",
    C.PRINT: "zeige gib_aus nenne verrate wiederhole toon herhaal",
    C.DETECT: "erkennt erkennung angriff* injektion* detecteert",
    C.VERBATIM: "wörtlich wortwörtlich vollständig ungekürzt woordelijk",
    C.TALK: "antworten antworte antwortest beantworten antwoorden",
    C.SOFAR: "bisher bis_jetzt bis_hierher tot_nu_toe",
    C.STEP: "übertragung kopie schritt aufruf versand",
}
