package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// client follows no redirects. After a redirect, a POST becomes a GET, and the message would be lost silently. Each message
// has its own connection: others' could be closed in the middle by whoever shares the default transport.
var client = &http.Client{
	Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// post sends the message to a service. Any answer except 2xx is an error.
func (a Address) post(ctx context.Context, m Message) error {
	body, header, err := a.payload(m)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url.String(), bytes.NewReader(body))
	if err != nil {
		return withoutURL(err)
	}
	req.Header = header
	req.Header.Set("User-Agent", "filewise")
	res, err := client.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer res.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(res.Body, 1<<10)) // as much of a refusal's text as arrives
	if res.StatusCode/100 == 2 {
		return nil
	}
	return &refusal{res.StatusCode, fmt.Sprintf("it answers %d %s%s", res.StatusCode, http.StatusText(res.StatusCode), quoted(said))}
}

// refusal is the answer of a service that understood the message and refused it.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string { return r.text }

// forGood reports whether the service would refuse the same message again.
func forGood(err error) bool {
	var r *refusal
	return errors.As(err, &r) && r.status/100 != 5 && r.status != http.StatusTooManyRequests && r.status != http.StatusRequestTimeout
}

// withoutURL returns the error's cause without the URL that net/http puts before it.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// quoted returns the first line of a service's answer.
func quoted(said []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(string(said), "?")), "\n")
	line = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line))
	if line == "" {
		return ""
	}
	return ": " + cut(line, 200)
}

// cut shortens a text to at most the given number of bytes.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes] + "…"
}

// payload returns the message in the form that the service takes.
func (a Address) payload(m Message) ([]byte, http.Header, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	var v any
	switch a.kind {
	case webhook:
		body, err := m.json()
		return body, header, err
	case slack:
		v = map[string]string{"text": "*" + slackText(m.Title) + "*\n" + slackText(m.Text)}
	case teams:
		v = teamsCard(m)
	case ntfy:
		return ntfyMessage(m)
	}
	body, err := json.Marshal(v)
	return body, header, err
}

// slackText escapes characters that Slack's mark-up would take for a link or a mention.
func slackText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// teamsCard returns the message as an adaptive card, the form that webhooks of Teams' Workflows take.
func teamsCard(m Message) any {
	type block map[string]any
	colour := "Good"
	if m.urgent() {
		colour = "Attention"
	}
	body := []block{{"type": "TextBlock", "text": m.Title, "weight": "Bolder", "size": "Medium", "wrap": true, "color": colour}}
	for line := range strings.SplitSeq(m.Text, "\n") {
		if line != "" {
			body = append(body, block{"type": "TextBlock", "text": line, "wrap": true})
		}
	}
	return block{"type": "message", "attachments": []block{{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": block{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"body": body, "msteams": block{"width": "Full"}},
	}}}
}

// ntfyBytes is the most bytes of a message that ntfy shows. It turns a longer message into a file.
const ntfyBytes = 3900

// ntfyMessage returns the message as text. Title, tags and priority are in the headers.
func ntfyMessage(m Message) ([]byte, http.Header, error) {
	header := http.Header{}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Title", mime.BEncoding.Encode("utf-8", m.Title)) // plain ASCII stays as it is
	header.Set("Tags", "bar_chart")
	if m.urgent() {
		header.Set("Tags", "warning")
		header.Set("Priority", "high")
	}
	return []byte(cut(m.Text, ntfyBytes)), header, nil
}
