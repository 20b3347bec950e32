package capture

import (
	"regexp"
	"strings"
	"unicode"
)

// levels holds the words that begin a record of text, each with the word for its kind. The words are from the message catalogues of
// PostgreSQL 15, in all their languages.
var levels = map[string]string{}

// failure is the word for the records of a statement that failed.
const failure = "ERROR"

const levelWords = `LOG INFO NOTICE WARNING PANIC DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5 PANIK WARNUNG HINWEIS
LOG ATTENTION PANICO ATTENZIONE NOTIFICA LOGG VARNING NOTIS ჟურნალი პანიკა გაფრთხილება ინფორმაცია გამართვა 로그 손상 경고 알림 정보 디버그
LOG СООБЩЕНИЕ ПАНИКА ПРЕДУПРЕЖДЕНИЕ ЗАМЕЧАНИЕ ИНФОРМАЦИЯ ОТЛАДКА ЗАПИСУВАННЯ ПАНІКА ПОПЕРЕДЖЕННЯ ПОВІДОМЛЕННЯ ІНФОРМАЦІЯ НАЛАГОДЖЕННЯ
LOG 日志 比致命错误还过分的错误 警告 注意 信息 调试
ERROR FATAL FEHLER ERREUR ERRORE FATALE FEL FATALT შეცდომა ფატალური 오류 치명적오류 ОШИБКА ВАЖНО ПОМИЛКА ФАТАЛЬНО 错误 致命错误
DETAIL DÉTAIL DETALLE DETTAGLI DETALJ 詳細 დეტალები 상세정보 ПОДРОБНОСТИ ВІДОМОСТІ 详细信息
CONTEXT ZUSAMMENHANG CONTEXTE CONTEXTO CONTESTO KONTEXT 文脈 კონტექსტი 내용 КОНТЕКСТ 上下文
HINT QUERY STATEMENT LOCATION BACKTRACE TIPP ANFRAGE ANWEISUNG ORT ASTUCE REQUÊTE INSTRUCTION EMPLACEMENT CONSULTA SENTENCIA UBICACIÓN
HINT SUGGERIMENTO ISTRUZIONE POSIZIONE TIPS FRÅGA SATS PLATS ヒント 問い合わせ 文 場所 バックトレース მინიშნება მოთხოვნა ოპერატორი მდებარეობა სტეკი
HINT 힌트 쿼리 구문 위치 역추적 ПОДСКАЗКА ЗАПРОС ОПЕРАТОР ПОЛОЖЕНИЕ СТЕК УКАЗІВКА ЗАПИТ ІНСТРУКЦІЯ РОЗТАШУВАННЯ ВІДСТЕЖУВАТИ 提示 查询 语句 位置`

func init() {
	for line := range strings.Lines(levelWords) {
		words := strings.Fields(line)
		for _, word := range words {
			levels[word] = words[0]
		}
	}
}

// notInLevel reports whether a letter cannot be part of a level. Scripts without capitals have no upper case.
func notInLevel(r rune) bool {
	return !unicode.IsUpper(r) && !unicode.IsDigit(r) && !(unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Cyrillic))
}

// timeWords and statementWords match, in those languages, what stands before a statement in a message.
const (
	timeWords = `(?:Dauer|durée|duración|durata|varaktighet|期間|ხანგრძლივობა|(?:실행|수행)시간|продолжительность|тривалість|(?:执行|持续)时间)` +
		`[ \x{a0}]?:? ?([0-9.]+) ?(?:ms|ミリ秒|მწმs?|мс)(?:[,，]? +|$)`
	statementWords = `(?:(Anweisung|instruction|sentencia|istruzione|sats|文|ოპერატორი|გამოსახულება|명령 구문|оператор|语句)[ \x{a0}]?: ` +
		`|(Ausführen Fetch von|exécute fetch à partir de|ejecutar fetch desde|esecuzione di fetch da|kör hämtning från|取り出し実行|자료뽑기` +
		`|выборка из|виконати витягнення з|执行FETCH操作)[^:]*: ` +
		`|(execute|Ausführen|exécute|ejecutar|esecuzione di|kör|実行|გაშვება|쿼리실행|выполнение|виконувати|执行)[^:]*: )`
)

var (
	translated = regexp.MustCompile(`(?s)^` + timeWords + statementWords + `?(.*)$`)
	untimed    = regexp.MustCompile(`(?s)^` + statementWords + `(.*)$`)
)

// inEnglish returns a message with a statement or its time as the server writes it in English. Others remain as they are.
func inEnglish(message string) string {
	if strings.HasPrefix(message, "duration: ") || strings.HasPrefix(message, "statement: ") {
		return message
	}
	time := ""
	m := translated.FindStringSubmatch(message)
	if m != nil {
		time, m = "duration: "+m[1]+" ms", m[1:]
	} else if m = untimed.FindStringSubmatch(message); m == nil {
		return message
	}
	between := ""
	if time != "" {
		between = "  "
	}
	switch {
	case m[1] != "":
		return time + between + "statement: " + m[4]
	case m[2] != "":
		return time + between + "execute fetch from p: " + m[4]
	case m[3] != "":
		return time + between + "execute p: " + m[4]
	case m[4] == "":
		return time
	}
	return message // it parses or binds
}
