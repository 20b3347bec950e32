package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"filewise"
	"filewise/internal/filesystem"
)

// The SQLSTATEs that Filewise distinguishes (PostgreSQL's documentation, appendix A).
const (
	codeDeadlock      = "40P01"
	codeSerialization = "40001"
	CodeLockTimeout   = "55P03"
	CodeCanceled      = "57014"
	codeDuplicate     = "23505"
	codeDiskFull      = "53100"
	codeTooMany       = "53300"
	CodeNoRight       = "42501"
	CodeInUse         = "55006" // object_in_use
	CodeNotReady      = "55000" // object_not_in_prerequisite_state
	CodeNoDatabase    = "3D000"
	codePassword      = "28P01"
	codeNoAccess      = "28000"
	codeStarting      = "57P03" // cannot_connect_now
)

// CodeOf returns the SQLSTATE of an error, or "" if the server did not send the error.
func CodeOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Classify adds to an error its class, and what the user can do about it.
func Classify(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	classed := func(c filewise.Class) error { return &filewise.Classed{Class: c, Err: err} }
	switch code := CodeOf(err); {
	case code == codeDeadlock:
		return classed(filewise.ClassDeadlock)
	case code == codeSerialization:
		return classed(filewise.ClassSerialization)
	case code == CodeLockTimeout:
		return classed(filewise.ClassLockTimeout)
	case code == codeDiskFull, code == "" && filesystem.Full(err), strings.Contains(err.Error(), "No space left on device"):
		return &filewise.Classed{Class: filewise.ClassSpace, Err: filewise.Errorf(filewise.CodeTrials,
			"free space on the volume, or name another with --volume NAME=DIR", "%w: %w", filewise.ErrSpace, err)}
	case code == codeTooMany:
		return &filewise.Classed{Class: filewise.ClassConnection, Err: filewise.Errorf(filewise.CodeTrials,
			"use fewer --connections, or have max_connections (or the limit of the role or database) "+
				"raised", "%w: %w", filewise.ErrConnections, err)}
	case code == codeDuplicate:
		return classed(filewise.ClassDuplicate)
	case strings.HasPrefix(code, "23"):
		return classed(filewise.ClassConstraint)
	case strings.HasPrefix(code, "42"), code == "3F000", code == "0A000": // wrong syntax, name, type or right; no such schema; not supported
		return classed(filewise.ClassMistake)
	case strings.HasPrefix(code, "08"), code == "57P01", code == "57P02", code == "57P03", code == "57P05", code == "" && broken(err):
		return classed(filewise.ClassConnection)
	}
	return err
}

// broken reports whether the connection itself failed.
func broken(err error) bool {
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || pgconn.SafeToRetry(err)
}

// Failed adds to an error which operation failed, unless the error is a context's end.
func Failed(what string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %w", what, err)
}

// overTLS reports whether TLS itself failed: a certificate, a handshake, or a server without TLS.
func overTLS(err error) bool {
	var (
		signer  x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
	)
	return errors.As(err, &signer) || errors.As(err, &name) || errors.As(err, &invalid) || errors.As(err, &verify) ||
		errors.As(err, &record) || errors.As(err, &alert) || strings.HasSuffix(err.Error(), "server refused TLS connection") ||
		strings.Contains(err.Error(), "remote error: tls: ")
}

// ConnectError adds to an error what to do if the server does not let Filewise in.
func ConnectError(url string, err error) error {
	remedy := reachRemedy(err)
	switch code := CodeOf(err); { // the server's answer follows any attempt with TLS, so it takes precedence
	case errors.Is(err, errClearText):
		remedy = "add sslmode=require, or trust the network: require_auth=password"
	case code == codePassword || code == codeNoAccess:
		remedy = "check user and password (without --no-password, if the account has one), and the server's pg_hba.conf"
	case code == CodeNoDatabase:
		remedy = "name a database that exists and that the account may connect to: …/DATABASE"
	case code == codeTooMany:
		remedy = "end other sessions, or have max_connections (or the limit of the role or database) raised"
	case code == CodeNotReady:
		remedy = "name a database that takes connections (ALLOW_CONNECTIONS): …/DATABASE"
	case code == codeStarting:
		remedy = "wait until the server has started"
	case strings.Contains(err.Error(), "unsupported startup parameter"):
		return filewise.Errorf(filewise.CodePreflight, "connect to PostgreSQL itself, not through the pooler",
			"%s is a connection pooler, whose sessions are not the server's: %w", url, err)
	case code != "":
		remedy = "see the server's log for why it refused the session"
	}
	return filewise.Errorf(filewise.CodePreflight, remedy, "%s: %w", url, err)
}

// reachRemedy returns what to do about an error that occurred before the server answered.
func reachRemedy(err error) string {
	var lookup *net.DNSError
	switch text := err.Error(); {
	case strings.Contains(text, "unexpected message") || strings.Contains(text, "unknown message type"):
		return "name the port of a PostgreSQL server: what answers there is none"
	case strings.Contains(text, "dial unix"):
		return "check that the server runs, and that host names the directory of its socket and port its number (SHOW " +
			"unix_socket_directories, port)"
	case errors.As(err, &lookup):
		return "check the host's name"
	case strings.HasSuffix(text, "server refused TLS connection"):
		return "leave sslmode out, or use sslmode=prefer: the server has no TLS"
	case overTLS(err):
		return "check sslmode, sslrootcert, sslcert and sslkey in the URL"
	}
	return "check that the server runs, its host and port, and firewalls between; its log may have more"
}
