package sqlserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/engine/internal/external"
)

// Errors of the server (sys.messages) that have a class or a remedy.
const (
	errNoObject     = 208  // there is no such table
	errNoDatabase   = 911  // database does not exist
	errNoAccess     = 916  // the login cannot open the database
	errOffline      = 942  // the database is offline
	errModelLarger  = 1803 // the first file is smaller than model's
	errInUse        = 3702 // cannot drop: in use
	errOthersIn     = 5070 // cannot go offline: in use
	errNoLock       = 5061 // cannot go offline: no lock on the database
	errCannotOpen   = 4060 // cannot open the database requested by the login
	errLoginFailed  = 18456
	errDisabled     = 18470 // the login is disabled
	errLockedOut    = 18486
	errExpired      = 18487 // the password
	errMustChange   = 18488 // the password
	errUntrusted    = 18452 // a login of a Windows domain that the server does not trust
	errTrigger      = 17892 // a logon trigger refuses
	errUpgrading    = 18401 // the server runs its upgrade scripts
	errModelLocked  = 1807  // no exclusive lock on model
	errNoDevice     = 3201  // cannot open a backup device
	errWriteFailed  = 3202  // of a backup device
	errNoFile       = 5123  // the operating system did not create a file
	errNoDirectory  = 5133  // nor finds its directory
	errNameTaken    = 50001 // sections create and restore
	errNotMarked    = 50002 // sql/part/guard.sql
	errOthers       = 50004 // section drop
	errFromModel    = 50005 // section from-model
	errDenied       = 262   // permission denied in database
	errDeniedState  = 300   // VIEW SERVER STATE permission was denied
	errDeniedAction = 297   // the user does not have permission to perform this action
)

// classes maps classes of failures to the server's error numbers ("Database Engine events and errors").
var classes = external.Classes{
	filewise.ClassDeadlock:      {1205},
	filewise.ClassSerialization: {3960, 3961, 41302, 41305, 41325},
	filewise.ClassLockTimeout:   {1222},
	filewise.ClassConstraint:    {547, 515, 512},
	filewise.ClassDuplicate:     {2601, 2627},
	// Syntax, names, rights, numbers of values, and types and arguments that do not fit.
	filewise.ClassMistake: {102, 105, 109, 110, 120, 121, 137, 156, 174, 189, 195, 201, 205, 206, 207, 208, 209, 213, 229, 230, 264, 402,
		1046, 2812, 4104, 8116, 8120, 8144, 8145},
	filewise.ClassSpace:      {1101, 1105, 9002, 1827, 5149, 5144, 3257, 1121},
	filewise.ClassConnection: {596, 6005, 6104, 10928, 10929, 40501, 17188, 17830, 17809},
}

// fullDisk matches how Windows and Linux report a full volume.
var fullDisk = regexp.MustCompile(`(?i)\b(112|28) ?\(|not enough space|no space left`)

// numbers returns the numbers of all errors that the server sent with one answer, first to last. The last is often only
// generic, such as 3013 of a failed BACKUP.
func numbers(err error) []int {
	var e mssql.Error
	if !errors.As(err, &e) {
		return nil
	}
	all := []int{int(e.Number)}
	for _, a := range e.All {
		all = append(all, int(a.Number))
	}
	return all
}

// codesOf returns the distinct numbers as one text, or "" if the server sent none.
func codesOf(err error) string {
	all := filewise.Each(numbers(err), strconv.Itoa)
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ",")
}

func hasNumber(err error, number int) bool { return slices.Contains(numbers(err), number) }

func denied(err error) bool {
	return hasNumber(err, errDenied) || hasNumber(err, errDeniedState) || hasNumber(err, errDeniedAction)
}

// lackOfRight lists the errors of statements for which the account lacks a right. 3701 and 5011 also mean that it does
// not own the object.
var lackOfRight = []int{229, 230, errDenied, errDeniedAction, errDeniedState, errNoAccess, 3110, 3701, 5011, 15151, 15247}

// administrator returns a remedy that only someone with more rights can give.
func administrator(statement string) string { return "have an administrator execute: " + statement }

// classOf returns the class of a driver's error.
func classOf(err error) filewise.Class {
	if (hasNumber(err, errWriteFailed) || hasNumber(err, errNoFile)) && fullDisk.MatchString(err.Error()) {
		return filewise.ClassSpace
	}
	if class := classes.Of(err, numbers(err)); class != filewise.ClassOther || !broken(err) {
		return class
	}
	return filewise.ClassConnection
}

// broken reports whether the connection is lost.
func broken(err error) bool {
	var stream mssql.StreamError
	var fatal mssql.ServerError
	return external.Broken(err) || errors.As(err, &stream) || errors.As(err, &fatal)
}

// explain adds to an error what the user can do, and hides secrets.
func (l *login) explain(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	err = filewise.HideIn(err, l.address.Hidden()...)
	if filewise.CodeOf(err) != filewise.CodeInternal {
		return err
	}
	class := classOf(err)
	switch {
	case class == filewise.ClassSpace:
		err = filewise.Errorf(filewise.CodeTrials, "free space on the volume, or name another with --volume NAME=DIR; a log that is full "+
			"needs --set log-size=…",
			"%w: %w", filewise.ErrSpace, err)
	case hasNumber(err, 17809), hasNumber(err, 10928): // the limits on user connections, and of a pool
		err = fmt.Errorf("%w: %w", filewise.ErrConnections, err)
	case hasNumber(err, errDenied) && strings.Contains(err.Error(), "CREATE DATABASE"):
		return filewise.Errorf(filewise.CodePreflight, grantCreate, "%w", err)
	}
	for _, m := range mendings {
		if hasNumber(err, m.number) {
			return external.Classed(class, filewise.Errorf(m.code, m.remedy, "%w", err))
		}
	}
	return external.Classed(class, err)
}

// reachable returns what a directory needs if the server cannot write to it.
const reachable = "the directory is one of the server's host, and its service account needs the right to write there: make it, grant it " +
	"(Windows: full control for NT SERVICE\\MSSQLSERVER; Linux: chown mssql), or name another with --volume NAME=DIR"

const newPassword = "sign in with another program to change the password, or ask an administrator for ALTER LOGIN … WITH PASSWORD = …"

const fromModel = "have its owner take it out of database model while you measure, or measure elsewhere: what is not Filewise's keeps a " +
	"database from being dropped"

// mendings lists the errors that the user can mend, by the server's number.
var mendings = []struct {
	number int
	code   filewise.Code
	remedy string
}{
	{errCannotOpen, filewise.CodePreflight, "name a database that is there and that this login may open: " +
		"sqlserver://USER@HOST?database=NAME; without a name it is master"},
	{errDisabled, filewise.CodePreflight, "ask an administrator for ALTER LOGIN … ENABLE, or name another user"},
	{errLockedOut, filewise.CodePreflight, "wait, or ask an administrator for ALTER LOGIN … WITH PASSWORD = … UNLOCK"},
	{errExpired, filewise.CodePreflight, newPassword},
	{errMustChange, filewise.CodePreflight, newPassword},
	{errUntrusted, filewise.CodePreflight, "name a user of SQL Server, or one of a domain that the server trusts"},
	{errTrigger, filewise.CodePreflight, "ask the server's owner what its logon trigger refuses"},
	{errUpgrading, filewise.CodePreflight, "the server runs its upgrade scripts: try again in some minutes"},
	{errLoginFailed, filewise.CodePreflight, "check user and password; the server must allow SQL Server authentication (mixed mode)"},
	{errModelLarger, filewise.CodeUsage, "make --size larger: the first file is at least as large as database model's"},
	{errFromModel, filewise.CodePreflight, fromModel},
	{errModelLocked, filewise.CodeTrials, "a session uses database model, or another CREATE DATABASE runs: end it, and try again"},
	{errNoDirectory, filewise.CodePreflight, reachable},
	{errNoFile, filewise.CodePreflight, reachable},
	{errNoDevice, filewise.CodeTrials, reachable},
	{errDeniedState, filewise.CodePreflight, grantEither},
}

var oldTLS = regexp.MustCompile(`protocol version|insecure algorithm|smaller than|handshake failure`)

// unreachable explains why the first connection failed.
func (l *login) unreachable(err error) error {
	explained := l.explain(err)
	if filewise.CodeOf(explained) != filewise.CodeInternal || errors.Is(err, context.Canceled) {
		return explained
	}
	var certificate *tls.CertificateVerificationError
	remedy := "check that the server runs and listens on TCP, and firewalls between; the port is 1433 unless it has another, and a " +
		"named instance is looked up by UDP 1434"
	old := oldTLS.MatchString(err.Error())
	switch {
	case len(numbers(err)) > 0:
		remedy = fmt.Sprintf("the server answers, and refuses: its error log has more (error %d)", numbers(err)[0])
	case errors.Is(err, errUnanswered):
		remedy = "its workers may all be busy (THREADPOOL; max worker threads): check by the dedicated administrator connection, and try " +
			"again when they are not, with fewer --connections"
	case strings.Contains(err.Error(), "krb5"):
		remedy = "the URL names no user, so that your own tickets sign in: run kinit, name the files by krb5-credcachefile and " +
			"krb5-configfile, or give a user of SQL Server: sqlserver://USER@HOST"
	case errors.Is(err, errReadable):
		remedy = "have the server encrypt, or trust the network: encrypt=disable"
	case old:
		remedy = "the server's TLS or certificate is older than is taken today: bring it up to date, give it its own certificate, or " +
			"ask for less: tlsmin=1.0, or encrypt=disable, which sends the password readable by the network"
	case errors.As(err, &certificate) || strings.Contains(err.Error(), "TLS") || strings.Contains(err.Error(), "encryption"):
		remedy = "name the server's certificate (certificate=FILE.pem or serverCertificate=FILE.pem), or hostNameInCertificate=NAME; " +
			"TrustServerCertificate=true accepts any; encrypt=mandatory, strict, optional or disable must suit the server"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "connecting to %s: %w", l.address, explained)
}
