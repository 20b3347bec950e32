package external

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/go-sql-driver/mysql"

	"filewise"
	"filewise/engine/innodb/client"
	"filewise/engine/innodb/dialect"
)

const errOption = 1290 // ER_OPTION_PREVENTS_STATEMENT: read-only, or another option

// missingRight names no GRANT, since doctor lists only those for Filewise's own databases.
const missingRight = "have the right in the message granted to the account (GRANT … ON DATABASE.* TO …); filewise doctor --target URL " +
	"lists the rights of a run"

// remedies lists what to do about errors of the server, by number.
var remedies = map[uint16]struct {
	code   filewise.Code
	remedy string
}{
	// ER_DBACCESS_DENIED_ERROR
	1044: {filewise.CodePreflight, missingRight},
	// ER_ACCESS_DENIED_ERROR
	1045: {filewise.CodePreflight, "check user and password, and from which hosts the account may log in; on the server's own host an " +
		"anonymous account (''@localhost) comes before one @%"},
	1130: {filewise.CodePreflight, "create the account for this host: CREATE USER `filewise`@`HOST` …"}, // ER_HOST_NOT_PRIVILEGED
	1142: {filewise.CodePreflight, missingRight},                                                        // ER_TABLEACCESS_DENIED_ERROR
	// ER_SPECIFIC_ACCESS_DENIED_ERROR
	1227:      {filewise.CodePreflight, missingRight},
	1370:      {filewise.CodePreflight, missingRight}, // ER_PROCACCESS_DENIED_ERROR
	errOption: {filewise.CodePreflight, "use the primary server: this one takes no writes"},
	1836:      {filewise.CodePreflight, "use the primary server: this one takes no writes"}, // ER_READ_ONLY_MODE
	// ER_ACCESS_DENIED_NO_PASSWORD_ERROR
	1698: {filewise.CodePreflight, "the account logs in without a password, as a user of the server's host"},
	1820: {filewise.CodePreflight, "give the account a new password: ALTER USER"}, // ER_MUST_CHANGE_PASSWORD
	1862: {filewise.CodePreflight, "give the account a new password: ALTER USER"}, // ER_MUST_CHANGE_PASSWORD_LOGIN
	// MySQL: ER_ACCOUNT_HAS_BEEN_LOCKED
	3118: {filewise.CodePreflight, "have the account unlocked: ALTER USER … ACCOUNT UNLOCK"},
	3159: {filewise.CodePreflight, "add ?tls=true to the URL: the server takes encrypted connections only"}, // ER_SECURE_TRANSPORT_REQUIRED
	// MariaDB: ER_ACCOUNT_HAS_BEEN_LOCKED
	4151: {filewise.CodePreflight, "have the account unlocked: ALTER USER … ACCOUNT UNLOCK"},

	dialect.ErrTooMany: {filewise.CodeTrials, "use fewer --connections, or have max_connections of the server raised"},
	// ER_TOO_MANY_USER_CONNECTIONS
	1203: {filewise.CodeTrials, "use fewer --connections, or have max_user_connections raised"},
	1226: {filewise.CodeTrials, "use fewer --connections, or have the account's limit raised"},          // ER_USER_LIMIT_REACHED
	1205: {filewise.CodeTrials, "wait, or end the session that holds the lock (SHOW FULL PROCESSLIST)"}, // ER_LOCK_WAIT_TIMEOUT
}

// explain adds to an error what to do about it, and hides every secret.
func (s *server) explain(err error) error {
	err = filewise.HideIn(err, s.target.Address.Hidden()...)
	if n, ok := dialect.Number(err); ok {
		switch n {
		case dialect.ErrTableFull, dialect.ErrDiskFull:
			return filewise.Errorf(filewise.CodeTrials, "free space on the server, or name another directory of it with --volume NAME=DIR", "%w: %w",
				filewise.ErrSpace, err)
		}
		if dialect.TooMany(n) {
			err = fmt.Errorf("%w: %w", filewise.ErrConnections, err)
		}
		if n == errOption && !strings.Contains(err.Error(), "read-only") {
			return filewise.Errorf(filewise.CodePreflight, "have the server started without the option that the message names", "%w", err)
		}
		if r, ok := remedies[n]; ok {
			return filewise.Errorf(r.code, r.remedy, "%w", err)
		}
	}
	if err != nil && (strings.Contains(err.Error(), "No space left on device") || strings.Contains(err.Error(), "error: 28")) {
		return filewise.Errorf(filewise.CodeTrials, "free space on the server", "%w: %w", filewise.ErrSpace, err)
	}
	return err
}

// unreachable explains why no connection to the server was possible.
func (s *server) unreachable(err error) error {
	err = s.explain(err)
	where := s.target.Address.String()
	if _, answered := dialect.Number(err); answered {
		if filewise.CodeOf(err) == filewise.CodeInternal || filewise.CodeOf(err) == filewise.CodeTrials {
			return filewise.Errorf(filewise.CodePreflight, filewise.RemedyOf(err), "%s: %w", where, err)
		}
		return filewise.Errorf(filewise.CodeOf(err), filewise.RemedyOf(err), "%s: %w", where, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		where += ": no answer"
	}
	return filewise.Errorf(filewise.CodePreflight, reachRemedy(err), "%s: %w", where, err)
}

// reachRemedy returns what to do about an error that occurred before the server answered.
func reachRemedy(err error) string {
	var (
		signer  x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		lookup  *net.DNSError
	)
	switch {
	case errors.As(err, &lookup):
		return "check the host's name"
	case errors.As(err, &signer):
		return "name the file of the certificate that signed the server's: tls-ca=FILE; or tls=skip-verify, which trusts any server"
	case errors.As(err, &name):
		return "use the name of the certificate, or say it: tls-server-name=NAME"
	case errors.As(err, &invalid):
		return "have the server's certificate renewed"
	case errors.As(err, &record):
		return "check host and port: what answers there does not speak TLS"
	case errors.Is(err, mysql.ErrNoTLS):
		return "leave tls out, or use tls=preferred: the server has no TLS"
	case errors.Is(err, mysql.ErrCleartextPassword):
		return "the account's plugin needs the password as it is: with tls=true, add allowCleartextPasswords=true"
	case errors.Is(err, errServerKey):
		return "add tls=true, name the server's own key by serverPubKey=FILE, or trust the network: " + client.OptionServerKey + "=true"
	case errors.Is(err, mysql.ErrNativePassword):
		return "leave allowNativePasswords=false out"
	case errors.Is(err, mysql.ErrOldPassword):
		return "give the account a password of today, or add allowOldPasswords=true"
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mysql.ErrMalformPkt) || errors.Is(err, mysql.ErrPktSync) {
		return "check host and port: what is there does not greet as a server of MySQL or MariaDB, or a firewall is between"
	}
	return "check that the server runs, its host and port, and firewalls between"
}
