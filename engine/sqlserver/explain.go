package sqlserver

import (
	"context"
	"crypto/tls"
	"errors"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"filewise"
	"filewise/engine/internal/external"
)

// Errors of the server (sys.messages) that have a class or a remedy.
const (
	errNoDatabase   = 911  // database does not exist
	errNoAccess     = 916  // the login cannot open the database
	errExists       = 1801 // database exists already
	errModelLarger  = 1803 // the first file is smaller than model's
	errInUse        = 3702 // cannot drop: in use
	errCannotOpen   = 4060 // cannot open the database requested by the login
	errLoginFailed  = 18456
	errNotMarked    = 50002 // sql/part/guard.sql
	errOthers       = 50004 // section drop
	errDenied       = 262   // permission denied in database
	errDeniedState  = 300   // VIEW SERVER STATE permission was denied
	errDeniedAction = 297   // the user does not have permission to perform this action
)

// classes of failures by the server's number ("Database Engine events and errors").
var classes = external.Classes{
	filewise.ClassDeadlock:      {1205},
	filewise.ClassSerialization: {3960, 3961, 41302, 41305, 41325},
	filewise.ClassLockTimeout:   {1222},
	filewise.ClassConstraint:    {2601, 2627, 547, 515, 512},
	filewise.ClassSpace:         {1101, 1105, 9002, 1827, 5149, 5144, 3257, 1121},
	filewise.ClassConnection:    {596, 6005, 6104, 10928, 10929, 40501, 17188, 17830, 17809},
}

// numbers are all errors that the server sent with one answer, first to last: the
// last is often only the generic one, such as 3013 of a failed BACKUP.
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

func hasNumber(err error, number int) bool { return slices.Contains(numbers(err), number) }

func denied(err error) bool {
	return hasNumber(err, errDenied) || hasNumber(err, errDeniedState) || hasNumber(err, errDeniedAction)
}

// classOf is the class of an error of the driver.
func classOf(err error) filewise.Class {
	if class := classes.Of(err, numbers(err)); class != filewise.ClassOther || !broken(err) {
		return class
	}
	return filewise.ClassConnection
}

// broken tells whether the connection is lost.
func broken(err error) bool {
	var stream mssql.StreamError
	var fatal mssql.ServerError
	return external.Broken(err) || errors.As(err, &stream) || errors.As(err, &fatal)
}

// explain adds to an error what the user can do about it, and hides secrets.
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
	case hasNumber(err, errLoginFailed):
		return filewise.Errorf(filewise.CodePreflight, "check user and password; the server must allow SQL Server authentication (mixed mode)",
			"%w", err)
	case hasNumber(err, errDenied) && strings.Contains(err.Error(), "CREATE DATABASE"):
		return filewise.Errorf(filewise.CodePreflight, grantCreate, "%w", err)
	case hasNumber(err, errModelLarger):
		return filewise.Errorf(filewise.CodeUsage, "make --size larger: the first file is at least as large as that of database model", "%w", err)
	case class == filewise.ClassSpace:
		err = filewise.Errorf(filewise.CodeTrials, "free space on the volume, or name another with --volume NAME=DIR; a log that is full "+
			"wants --set log-size=…",
			"%w: %w", filewise.ErrSpace, err)
	}
	return external.Classed(class, err)
}

// unreachable explains why a first connection did not come about.
func (l *login) unreachable(err error) error {
	explained := l.explain(err)
	if filewise.CodeOf(explained) != filewise.CodeInternal || errors.Is(err, context.Canceled) {
		return explained
	}
	var certificate *tls.CertificateVerificationError
	remedy := "is it there, does it listen on TCP, and does a firewall let you through? The port is 1433 unless it has another; an " +
		"instance behind the host is looked up by UDP 1434"
	if errors.As(err, &certificate) || strings.Contains(err.Error(), "TLS") || strings.Contains(err.Error(), "encryption") {
		remedy = "name the server's certificate (certificate=FILE.pem or serverCertificate=FILE.pem), or hostNameInCertificate=NAME; " +
			"TrustServerCertificate=true accepts any; encrypt=mandatory, strict, optional or disable must suit the server"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "connecting to %s: %w", l.address, explained)
}
