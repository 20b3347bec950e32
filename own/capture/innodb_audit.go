package capture

import (
	"regexp"
	"strings"
	"time"

	"filewise"
)

// auditLine matches a line of MariaDB's server_audit: time, server, user, client, session, number, event, database, object, error.
var auditLine = regexp.MustCompile(`^(\d{8} \d\d:\d\d:\d\d),[^,]*,[^,]*,[^,]*,(\d+),\d+,([A-Z_]+),([^,]*),(.*),(\d*)$`)

// auditLimit is the default of server_audit_query_log_limit, at which texts end.
const auditLimit = 1024

// inAudit restores what server_audit writes within quotes.
var inAudit = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n", `\r`, "\r", `\t`, "\t")

// audited takes a line of server_audit. It returns false if the line is none.
func (l *innodbLog) audited(line string) bool {
	if len(line) < 18 || line[8] != ' ' || line[17] != ',' {
		return false
	}
	m := auditLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	l.end()
	l.known, l.session = true, m[2]
	l.at, _ = time.Parse("20060102 15:04:05", m[1]) // zero if it is none
	switch m[3] {
	case "DISCONNECT":
		l.left()
	case "CONNECT":
		l.left()
		l.databases[l.session] = m[4]
	case "QUERY":
		l.databases[l.session] = m[4]
		if quoted := strings.Trim(m[5], "'"); len(quoted) >= auditLimit-1 && len(quoted) <= auditLimit+1 {
			l.text = append(l.text, filewise.Unreadable)
		} else if m[6] == "0" { // one that failed did no work
			l.command("Query", inAudit.Replace(strings.TrimSuffix(strings.TrimPrefix(m[5], "'"), "'")))
		}
		l.end()
	}
	return true
}
