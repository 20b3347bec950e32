package filewise

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden stands for a secret wherever it would be shown.
const hidden = "********"

// Secret is a password or another text that is never shown, stored or logged:
// every way of formatting it gives asterisks. Reveal gives the text.
type Secret string

// Reveal is the secret's text, for the driver and nothing else.
func (s Secret) Reveal() string { return string(s) }

// Format writes asterisks, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// LogValue returns what slog shows.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what JSON and other encodings store.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText refuses: a secret is never read from what was stored.
func (s *Secret) UnmarshalText([]byte) error { *s = ""; return nil }

// Hide returns the text with every secret in it, of at least three bytes,
// replaced by asterisks.
func Hide(text string, secrets ...Secret) string {
	for _, s := range secrets {
		if len(s) >= 3 {
			text = strings.ReplaceAll(text, string(s), hidden)
		}
	}
	return text
}

// HideIn wraps an error, of a driver for instance, so that its text shows no
// secret; errors.Is and errors.As still see the cause.
func HideIn(err error, secrets ...Secret) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); Hide(text, secrets...) != text {
		return &masked{Hide(text, secrets...), err}
	}
	return err
}

type masked struct {
	text  string
	cause error
}

func (m *masked) Error() string { return m.text }
func (m *masked) Unwrap() error { return m.cause }
