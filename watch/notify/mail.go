package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"filewise"
	"filewise/internal/nearest"
)

// mailbox holds a mail server, the sender and the receivers.
type mailbox struct {
	host           string
	port           int
	user, password string
	from           string
	to             []string
	tls            tlsMode
	insecure       bool
}

// tlsMode is the encryption that passwords and mail need.
type tlsMode string

const (
	tlsAlways   tlsMode = "always"   // encrypted from the first byte: smtps
	tlsRequired tlsMode = "required" // STARTTLS, otherwise nothing is sent
	tlsOffered  tlsMode = "offered"  // STARTTLS if the server has it
	tlsNone     tlsMode = "none"
)

// parseMail reads smtp:// and smtps://, with the options from, to, tls and insecure.
func parseMail(u *url.URL) (Address, error) {
	m := mailbox{host: u.Hostname(), user: u.User.Username()}
	m.password, _ = u.User.Password()
	if m.user == "" && m.password != "" {
		return Address{}, wrong("give smtp://USER:PASSWORD@HOST", "it has a password and no user")
	}
	if strings.Trim(u.Path, "/") != "" {
		return Address{}, wrong("give smtp://USER:PASSWORD@HOST:PORT/?from=ME&to=YOU", "a mail server has no path")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, wrong("in an option write & ; % as %26 %3B %25", "an option cannot be read")
	}
	for name := range q {
		if options := []string{"from", "to", "tls", "insecure"}; !slices.Contains(options, name) {
			return Address{}, wrong(nearest.Remedy(name, options), "mail has no option %q", name)
		}
	}
	for _, step := range []func() error{
		func() error { return m.setPort(u) },
		func() error { return m.setTLS(u.Scheme, q) },
		func() error { return m.setPeople(q) },
	} {
		if err := step(); err != nil {
			return Address{}, err
		}
	}
	return m.address(u), nil
}

func (m *mailbox) setPort(u *url.URL) error {
	switch given := u.Port(); {
	case given != "":
		n, err := strconv.ParseUint(given, 10, 16)
		if err != nil || n == 0 {
			return wrong("give a port from 1 to 65535", "its port is none")
		}
		m.port = int(n)
	case u.Scheme == "smtps":
		m.port = 465
	case m.user != "":
		m.port = 587 // RFC 6409: submission, by those who log in
	default:
		m.port = 25
	}
	return nil
}

// setTLS sets the mode of TLS. A password goes to another machine only under TLS, unless the URL allows otherwise.
func (m *mailbox) setTLS(scheme string, q url.Values) error {
	m.tls = tlsOffered
	if m.password != "" && !loopback(m.host) {
		m.tls = tlsRequired
	}
	modes := []string{string(tlsRequired), string(tlsOffered), string(tlsNone)}
	switch given := q.Get("tls"); {
	case scheme == "smtps" && given != "":
		return wrong("leave tls out, or give smtp://", "smtps has TLS always")
	case scheme == "smtps":
		m.tls = tlsAlways
	case given == "":
	case slices.Contains(modes, given):
		m.tls = tlsMode(given)
	default:
		return wrong(nearest.Remedy(given, modes), "tls is unknown: %q", given)
	}
	switch q.Get("insecure") {
	case "", "false":
	case "true":
		m.insecure = true
	default:
		return wrong("insecure=true accepts any certificate", "insecure is neither true nor false")
	}
	return nil
}

func (m *mailbox) setPeople(q url.Values) error {
	for _, list := range q["to"] {
		// In a URL, a plus that is not written as %2B has become a space, as in ada+tests@.
		people, err := mail.ParseAddressList(list)
		if err != nil {
			return wrong("give to=ADDRESS, or several with commas; write + as %2B", "to holds no mail address")
		}
		for _, p := range people {
			m.to = append(m.to, p.Address)
		}
	}
	if len(m.to) == 0 {
		return wrong("add ?to=ADDRESS", "it does not say to whom")
	}
	from := cmp.Or(q.Get("from"), m.user)
	sender, err := mail.ParseAddress(from)
	if err != nil {
		return wrong("add &from=ADDRESS; write + as %2B", "it does not say from whom: from is no mail address")
	}
	m.from = sender.Address
	return nil
}

func (m mailbox) address(u *url.URL) Address {
	shown := *u
	secret := filewise.Secret(m.password)
	if u.User != nil {
		shown.User = url.User(m.user)
	}
	a := Address{kind: mailKind, mail: m, shown: strings.TrimPrefix(shown.String(), "//")}
	if secret != "" {
		a.secrets = []filewise.Secret{secret, filewise.Secret(url.QueryEscape(m.password)), filewise.Secret(url.PathEscape(m.password))}
		before, after, _ := strings.Cut(a.shown, "@")
		a.shown = before + ":" + secret.String() + "@" + after
	}
	return a
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// clients returns the ways to log in, the safe ones first. PLAIN and LOGIN without TLS follow only if the URL allows
// them.
func (m mailbox) clients(timeout time.Duration) ([]*gomail.Client, error) {
	options := []gomail.Option{gomail.WithPort(m.port), gomail.WithTimeout(timeout), gomail.WithoutNoop(),
		gomail.WithTLSConfig(&tls.Config{ServerName: m.host, InsecureSkipVerify: m.insecure, MinVersion: tls.VersionTLS12})}
	switch m.tls {
	case tlsAlways:
		options = append(options, gomail.WithSSL())
	case tlsRequired:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSMandatory))
	case tlsOffered:
		options = append(options, gomail.WithTLSPolicy(gomail.TLSOpportunistic))
	case tlsNone:
		options = append(options, gomail.WithTLSPolicy(gomail.NoTLS))
	}
	auths := []gomail.SMTPAuthType{gomail.SMTPAuthNoAuth}
	if m.user != "" && m.password != "" {
		auths = []gomail.SMTPAuthType{gomail.SMTPAuthAutoDiscover}
		if m.tls == tlsNone || m.tls == tlsOffered && loopback(m.host) {
			auths = append(auths, gomail.SMTPAuthPlainNoEnc, gomail.SMTPAuthLoginNoEnc)
		}
		options = append(options, gomail.WithUsername(m.user), gomail.WithPassword(m.password))
	}
	var out []*gomail.Client
	for _, auth := range auths {
		c, err := gomail.NewClient(m.host, append(slices.Clone(options), gomail.WithSMTPAuth(auth))...)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// connect logs in with the first way that the server supports.
func (m mailbox) connect(ctx context.Context) (*gomail.Client, *smtp.Client, error) {
	clients, err := m.clients(answerWithin)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range clients {
		var s *smtp.Client
		if s, err = c.DialToSMTPClientWithContext(ctx); err == nil {
			return c, s, nil
		}
		if !errors.Is(err, gomail.ErrNoSupportedAuthDiscovered) && !errors.Is(err, gomail.ErrPlainAuthNotSupported) {
			break
		}
	}
	return nil, nil, err
}

// send mails the message, with the report attached.
func (m mailbox) send(ctx context.Context, msg Message) error {
	out, err := m.compose(msg)
	if err != nil {
		return err
	}
	c, s, err := m.connect(ctx)
	if err != nil {
		return err
	}
	err = c.SendWithSMTPClient(s, out)
	closing := c.CloseWithSMTPClient(s)
	if out.IsDelivered() {
		return nil // the server has the mail; its last answer changes nothing
	}
	return errors.Join(err, closing)
}

// check logs in, and checks whether the server accepts mail from the sender to the receivers. It sends no mail.
func (m mailbox) check(ctx context.Context) error {
	c, s, err := m.connect(ctx)
	if err != nil {
		return err
	}
	if err = s.Mail(m.from); err == nil {
		for _, to := range m.to {
			err = errors.Join(err, s.Rcpt(to))
		}
	}
	return errors.Join(err, s.Reset(), c.CloseWithSMTPClient(s))
}

func (m mailbox) compose(msg Message) (*gomail.Msg, error) {
	out := gomail.NewMsg()
	if err := errors.Join(out.FromFormat("Filewise", m.from), out.To(m.to...)); err != nil {
		return nil, err
	}
	out.Subject(msg.Title)
	out.SetDateWithValue(msg.Time)
	out.SetMessageID()
	out.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no out-of-office answers
	if msg.urgent() {
		out.SetImportance(gomail.ImportanceHigh)
	}
	text := msg.Text
	if msg.Details != "" {
		text += "\n\n" + msg.Details
	}
	out.SetBodyString(gomail.TypeTextPlain, strings.TrimRight(text, "\n")+"\n")
	if msg.Report != nil {
		if err := out.AttachReader(msg.ReportName, bytes.NewReader(msg.Report),
			gomail.WithFileContentType("text/html; charset=utf-8")); err != nil {
			return nil, err
		}
	}
	return out, nil
}
