package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-sasl"

	"filewise"
	"filewise/watch/notify/notifytest"
)

func parse(t *testing.T, text string) Address {
	t.Helper()
	a, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var at = time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)

func message() Message {
	return Message{Event: Decided, Time: at, Title: "Filewise: inserts on sqlite is decided (öre)", Text: "Use 4 files: <+6 %>",
		Details: "the table", Report: bytes.Repeat([]byte("<p>ü</p>\r\n"), 5000), ReportName: "filewise-12.html",
		Run: &Run{ID: 12, Scenario: "inserts", Layouts: []string{"1 file"}}}
}

// The mail arrives as it was sent, with the report byte for byte.
func TestMailWithReport(t *testing.T) {
	s := notifytest.NewMail(t)
	a := parse(t, "smtp://ada:Zx9%2FCanary@"+s.Addr+"/?from=filewise@example.org&to=eve@example.org,Bob%20<bob@example.org>")
	if err := a.Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if len(s.Got()) != 1 || !slices.Equal(s.To(), []string{"eve@example.org", "bob@example.org"}) {
		t.Fatalf("%d letters to %v", len(s.Got()), s.To())
	}
	letter, err := mail.ReadMessage(strings.NewReader(s.Got()[0]))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(letter.Header.Get("Subject"))
	if err != nil || subject != message().Title {
		t.Errorf("subject %q, %v", subject, err)
	}
	if when, err := letter.Header.Date(); err != nil || !when.Equal(at) {
		t.Errorf("date %v, %v", when, err)
	}
	parts := notifytest.Parts(t, letter)
	if !strings.Contains(parts[""], "Use 4 files") || !strings.Contains(parts[""], "the table") {
		t.Errorf("text %q", parts[""])
	}
	if parts["filewise-12.html"] != string(message().Report) {
		t.Errorf("the attachment has %d bytes, and is another", len(parts["filewise-12.html"]))
	}
}

// What a mail server refuses is found by the first try, and shows no password.
func TestMailRefused(t *testing.T) {
	s := notifytest.NewMail(t)
	for name, c := range map[string]struct{ url, want string }{
		"password":  {"smtp://ada:WrongCanary@" + s.Addr + "/?from=a@b.c&to=d@e.f", "AUTH failed"},
		"no login":  {"smtp://" + s.Addr + "/?from=a@b.c&to=d@e.f", "authenticate first"},
		"recipient": {"smtp://ada:Zx9%2FCanary@" + s.Addr + "/?from=a@b.c&to=nobody@e.f", "no such mailbox"},
		"tls":       {"smtps://ada:Zx9%2FCanary@" + s.Addr + "/?from=a@b.c&to=d@e.f", "TLS"},
		"starttls":  {"smtp://ada:Zx9%2FCanary@" + s.Addr + "/?from=a@b.c&to=d@e.f&tls=required", "TLS"},
		"port":      {"smtp://ada:Zx9%2FCanary@127.0.0.1:1/?from=a@b.c&to=d@e.f", "refused"},
	} {
		for _, events := range [][]Event{Events, {Done}} { // a mail, or a look without one
			n := New([]Address{parse(t, c.url)}, events)
			err := n.Try(t.Context(), Message{Event: Started, Title: "starts"})
			if filewise.CodeOf(err) != filewise.CodePreflight || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "Canary") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	n := New([]Address{parse(t, "smtp://ada:Zx9%2FCanary@"+s.Addr+"/?from=a@b.c&to=d@e.f")}, []Event{Done})
	if err := n.Try(t.Context(), Message{Event: Started, Title: "starts"}); err != nil || len(s.Got()) > 0 {
		t.Errorf("%v; %d letters where none was wanted", err, len(s.Got()))
	}
}

// A password travels under TLS if the server demands it, in any of the ways to demand it, and nowhere if the
// certificate is not one to be trusted.
func TestMailUnderTLS(t *testing.T) {
	servers := map[string]*notifytest.Mail{
		"smtp": notifytest.NewMailWith(t, notifytest.StartTLS, sasl.Plain), "smtps": notifytest.NewMailWith(t, notifytest.Implicit, sasl.Login),
	}
	for scheme, s := range servers {
		people := "/?from=a@b.c&to=d@e.f"
		for i, options := range map[string][]string{"smtp": {"", "&tls=required", "&tls=offered"}, "smtps": {""}}[scheme] {
			url := scheme + "://" + notifytest.Account + "@" + s.Addr + people + options
			if err := parse(t, url).Send(t.Context(), message()); err == nil || !strings.Contains(err.Error(), "certificate") ||
				strings.Contains(err.Error(), "Canary") || len(s.Got()) != i {
				t.Errorf("%s%s: %v, %d letters under a certificate that nobody knows", scheme, options, err, len(s.Got()))
			}
			if err := parse(t, url+"&insecure=true").Send(t.Context(), message()); err != nil || len(s.Got()) != i+1 || s.Secure() != i+1 {
				t.Errorf("%s%s: %v, %d letters, %d by TLS", scheme, options, err, len(s.Got()), s.Secure())
			}
		}
	}
	s, sent := servers["smtp"], len(servers["smtp"].Got())
	if err := parse(t, "smtp://"+notifytest.Account+"@"+s.Addr+"/?from=a@b.c&to=d@e.f&tls=none").Send(t.Context(), message()); err == nil ||
		strings.Contains(err.Error(), "Canary") || len(s.Got()) != sent {
		t.Errorf("without TLS: %v", err)
	}
	open := notifytest.NewMailWith(t, notifytest.Clear, sasl.Login)
	if err := parse(t, "smtp://"+notifytest.Account+"@"+open.Addr+"/?from=a@b.c&to=d@e.f").Send(t.Context(), message()); err != nil ||
		len(open.Got()) != 1 || open.Secure() != 0 {
		t.Errorf("by LOGIN, in the clear: %v, %d letters", err, len(open.Got()))
	}
}

// Every service gets what its documentation demands.
func TestServices(t *testing.T) {
	h := notifytest.NewHook(t)
	host := strings.TrimPrefix(h.URL, "http://")
	for i, c := range []struct{ url, path, want string }{
		{"http://" + host + "/hook?key=1", "POST /hook?key=1", `"event":"decided"`},
		{"slack+http://" + host + "/services/T0/B0/XXXX", "POST /services/T0/B0/XXXX", `{"text":"*Filewise`},
		{"teams+http://" + host + "/workflows/1/run?sig=XXXX", "POST /workflows/1/run?sig=XXXX",
			`"contentType":"application/vnd.microsoft.card.adaptive"`},
		{"ntfy+http://" + host + "/topic", "POST /topic", "Use 4 files: <+6 %>"},
	} {
		if err := parse(t, c.url).Send(t.Context(), message()); err != nil {
			t.Fatalf("%s: %v", c.url, err)
		}
		if h.Paths()[i] != c.path || !strings.Contains(h.Bodies()[i], c.want) {
			t.Errorf("%s: %s %s", c.url, h.Paths()[i], h.Bodies()[i])
		}
	}
	var got struct {
		Format, Event, Title string
		Schema               int
		Time                 time.Time
		Run                  Run
	}
	if err := json.Unmarshal([]byte(h.Bodies()[0]), &got); err != nil || got.Format != Format || got.Schema != Schema || got.Run.ID != 12 ||
		!got.Time.Equal(at) {
		t.Errorf("%v: %+v", err, got)
	}
	if !strings.Contains(h.Bodies()[1], `Use 4 files: \u0026lt;+6 %`) {
		t.Errorf("Slack's mark-up is not escaped: %s", h.Bodies()[1])
	}
	if title, err := new(mime.WordDecoder).DecodeHeader(h.Headers()[3].Get("Title")); err != nil || title != message().Title {
		t.Errorf("ntfy's title %q, %v", title, err)
	}
}

// What fails is tried a bounded number of times, in order, and stops nothing.
func TestBounded(t *testing.T) {
	short := func(h *notifytest.Hook) *Notifier { return New([]Address{parse(t, h.URL+"/SecretCanary")}, Events) }
	for name, c := range map[string]struct {
		answers []int
		tries   int
		fails   string
	}{
		"later":    {[]int{503}, 3, ""}, // fails, succeeds, and the second message
		"never":    {[]int{500, 500, 500}, 3, "500"},
		"for good": {[]int{404}, 1, "404 Not Found: no [*]+ here"},
		"moved":    {[]int{302}, 1, "302"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := notifytest.NewHook(t, c.answers...)
			h.Said = "no SecretCanary here"
			n := short(h)
			n.Queue(Message{Event: Attention, Title: "first"})
			n.Queue(Message{Event: Done, Title: "second"})
			err := n.Finish(t.Context())
			if len(h.Bodies()) != c.tries {
				t.Errorf("%d tries, want %d", len(h.Bodies()), c.tries)
			}
			switch {
			case c.fails == "" && err != nil, c.fails != "" && err == nil:
				t.Errorf("%v", err)
			case err != nil && (strings.Contains(err.Error(), "Canary") || !strings.Contains(err.Error(), "first")):
				t.Errorf("%v", err)
			}
		})
	}
}

// Between trials there is one try, and what fails is kept.
func TestDeliver(t *testing.T) {
	h := notifytest.NewHook(t, 503)
	n := New([]Address{parse(t, h.URL)}, []Event{Attention})
	n.Queue(Message{Event: Done, Title: "not chosen"})
	n.Queue(Message{Event: Attention, Title: "chosen"})
	n.Deliver(t.Context())
	if len(h.Bodies()) != 1 {
		t.Fatalf("%d tries", len(h.Bodies()))
	}
	if err := n.Finish(t.Context()); err != nil || len(h.Bodies()) != 2 || !strings.Contains(h.Bodies()[1], "chosen") {
		t.Errorf("%v after %d tries", err, len(h.Bodies()))
	}
}

// A server that never answers does not hold a run up for ever.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, scheme := range []string{"http://%s/", "smtp://%s/?from=a@b.c&to=d@e.f"} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		ended := make(chan error, 1)
		go func() { ended <- parse(t, fmt.Sprintf(scheme, l.Addr())).Send(ctx, message()) }()
		select {
		case err := <-ended:
			if err == nil {
				t.Errorf("%s: nobody has answered", scheme)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it still waits", scheme)
		}
		cancel()
	}
}

// Nothing of a URL that cannot be read is shown, and of others no secret.
func TestParse(t *testing.T) {
	for _, bad := range []string{
		"", "Canary", "smpt://ada:Canary@h/?to=a@b.c", "smtp://ada:Canary@h/", "smtp://ada:Canary@h/?to=Canary", "smtp://ada:Canary@h/?to=a@b.c",
		"smtp://ada:Ca/nary@h/?from=a@b.c&to=a@b.c", "smtp://ada:Canary@h/path?from=a@b.c&to=a@b.c", "smtp://ada@h:99999/?from=a@b.c&to=a@b.c",
		"smtp://ada:Canary@h/?from=a@b.c&to=a@b.c&tls=maybe", "smtps://ada:Canary@h/?from=a@b.c&to=a@b.c&tls=none",
		"smtp://h/?from=a@b.c&to=a@b.c&insecure=Canary",
		"smtp://h/?frm=a@b.c&to=a@b.c", "smtp://h/?from=a@b.c&to=a@b.c%0d%0aBcc:Canary@x.y", "smtp://:Canary@h/?from=a@b.c&to=a@b.c",
		"https://", "https:///Canary", "https://h/Can ary", "https://h/Canary#x", "https://h:port/Canary", "slack://token:Canary@channel",
		"slack://hooks.slack.com",
		"teams://h", "ntfy://ntfy.sh", "ntfy://ntfy.sh/a/Canary", "discord://Canary@id", "https://h/%zzCanary",
	} {
		_, err := Parse(bad)
		if filewise.CodeOf(err) != filewise.CodeUsage || filewise.RemedyOf(err) == "" ||
			strings.Contains(fmt.Sprint(err, filewise.RemedyOf(err)), "anary") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for text, want := range map[string]string{
		"smtp://ada:Canary@h/?from=a@b.c&to=d@e.f":             "smtp://ada:********@h/?from=a@b.c&to=d@e.f",
		"smtp://h/?from=a@b.c&to=d@e.f":                        "smtp://h/?from=a@b.c&to=d@e.f",
		"https://hooks.slack.com/services/T0/B0/Canary":        "slack://hooks.slack.com/********",
		"https://x.logic.azure.com:443/workflows/1?sig=Canary": "teams://x.logic.azure.com:443/********",
		"NTFY://u:Canary@ntfy.sh/Canary":                       "ntfy://ntfy.sh/********",
		"https://ada:Canary@example.org/Canary":                "https://example.org/********",
		"webhook+http://example.org":                           "webhook+http://example.org",
		"slack+http://127.0.0.1:8065/hooks/Canary":             "slack+http://127.0.0.1:8065/********",
	} {
		a := parse(t, text)
		if a.String() != want {
			t.Errorf("%s is shown as %s, want %s", text, a, want)
		}
		if strings.Contains(fmt.Sprintf("%v %s", a, filewise.Hide(text, SecretsIn(text)...)), "Canary") {
			t.Errorf("%s: %v", text, SecretsIn(text))
		}
	}
}

func TestParseEvents(t *testing.T) {
	if got, err := ParseEvents("done, failed,done"); err != nil || !slices.Equal(got, []Event{Done, Failed}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "don", "done,", "test"} {
		if _, err := ParseEvents(bad); filewise.CodeOf(err) != filewise.CodeUsage {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("smtp://ada:Canary@h/?from=a@b.c&to=d@e.f")
	f.Add("https://u:p@h:1/x?y=z")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		if err != nil {
			if filewise.CodeOf(err) != filewise.CodeUsage {
				t.Fatal(err)
			}
			return
		}
		for _, s := range a.Secrets() {
			if u, err := url.Parse(a.String()); err != nil || len(s) >= part && strings.Contains(u.Path, s.Reveal()) {
				t.Errorf("%q is shown as %q, %v", text, a, err)
			}
		}
	})
}
