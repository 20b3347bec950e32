package plan

import (
	"cmp"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"filewise"
	"filewise/internal/filesystem"
	"filewise/lab/experiment"
	"filewise/watch/notify"
)

// NotifyOptions holds the receivers and events of notifications, in run, plan and resume.
type NotifyOptions struct {
	Notify   Opt[[]string]
	NotifyOn Opt[string]
}

// Table returns the rows of these options.
func (o *NotifyOptions) Table() []Option {
	all := strings.Join(filewise.Each(notify.Events, func(e notify.Event) string { return string(e) }), ",")
	return []Option{
		o.NotifyRow(),
		Row(&o.NotifyOn, "notify-on", all, "`events` to send, with commas").unrepeated(),
	}
}

// NotifyRow returns the row of the URLs, for commands without a choice of events.
func (o *NotifyOptions) NotifyRow() Option {
	return Row(&o.Notify, "notify", nil, "notify this `URL`: smtp://, slack://, teams://, ntfy://, or a webhook's https://; "+
		"env:NAME or file:PATH keeps it secret (repeatable)").unrepeated()
}

// Receivers holds the receivers of a run's notifications, and the events that they get.
type Receivers struct {
	Addresses []notify.Address
	Events    []notify.Event
	Shown     []string // as stored, without secrets
}

// setNotify puts the receivers into the plan, without secrets.
func (m *maker) setNotify() (err error) {
	if m.receivers, err = m.o.NotifyOptions.Receivers(); err != nil {
		return err
	}
	m.plan.Notify = m.receivers.Shown
	if m.o.NotifyOn.Given() {
		m.plan.NotifyOn = m.o.NotifyOn.Value
	}
	return nil
}

// Receivers parses the given options.
func (o *NotifyOptions) Receivers() (t Receivers, err error) {
	if o.NotifyOn.Value != "" {
		if t.Events, err = notify.ParseEvents(o.NotifyOn.Value); err != nil {
			return t, err
		}
	}
	if slices.Equal(o.Notify.Value, []string{"none"}) { // overrides the variable's or the run's receivers
		return t, nil
	}
	for _, given := range o.Notify.Value {
		if err := t.add(given); err != nil {
			return t, err
		}
	}
	return t, nil
}

// add adds the addresses that a value of --notify stands for.
func (t *Receivers) add(given string) error {
	urls, err := notifyURLs(given)
	if err != nil {
		return err
	}
	for _, u := range urls {
		a, err := notify.Parse(u)
		if err != nil {
			return err
		}
		t.Addresses = append(t.Addresses, a)
		if given == u {
			t.Shown = append(t.Shown, a.String())
		}
	}
	if !strings.Contains(given, "://") {
		t.Shown = append(t.Shown, given) // the name of a variable or file is no secret
	}
	return nil
}

// notifyURLs returns the URLs that a value of --notify stands for. In variables and files, spaces or line ends separate
// URLs. A line that begins with # is a comment.
func notifyURLs(given string) ([]string, error) {
	way, where, _ := strings.Cut(given, ":")
	var text string
	switch way {
	case "env":
		text = os.Getenv(where)
	case "file":
		read, err := secretFile(where)
		if err != nil {
			return nil, err
		}
		text = read
	default:
		return []string{given}, nil
	}
	var out []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out = append(out, strings.Fields(line)...)
		}
	}
	if len(out) == 0 {
		return nil, filewise.Errorf(filewise.CodeUsage, "put the URL there, or leave --notify out", "--notify %s: there is no URL in it", given)
	}
	return out, nil
}

// mostURLs is the most bytes that are read from a file of URLs.
const mostURLs = 1 << 20

// secretFile reads a file, and refuses it if everybody can read it.
func secretFile(path string) (string, error) {
	remedy := "name the file that holds the URLs alone"
	f, err := filesystem.OpenSecret(path)
	if err != nil {
		remedy = filesystem.SecretRemedy(path, err)
	} else {
		defer f.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(f, mostURLs+1)); err == nil && len(b) <= mostURLs {
			return string(b), nil
		}
		err = cmp.Or(err, errors.New("it is too large"))
	}
	return "", filewise.Errorf(filewise.CodeUsage, remedy, "--notify file:%s: %w", path, err)
}

// ReceiversAgain returns the receivers of a resumed run, which stay the same unless given again. Receivers must be given
// again if their secrets are not stored, or if this user has not stored the run on this host.
func (o NotifyOptions) ReceiversAgain(p experiment.Plan, stored bool) (Receivers, error) {
	if !o.NotifyOn.Given() && p.NotifyOn != "" {
		o.NotifyOn.Value = p.NotifyOn
	}
	if len(o.Notify.Value) == 0 {
		if len(p.Notify) > 0 && !stored {
			return Receivers{}, filewise.Errorf(filewise.CodeUsage, "give --notify with the URL, or --notify none to go on without",
				"the run notifies %s, addresses that this user has not stored on this host", strings.Join(p.Notify, ", "))
		}
		for _, shown := range p.Notify {
			if strings.Contains(shown, filewise.Secret("x").String()) {
				return Receivers{}, filewise.Errorf(filewise.CodeUsage,
					"give --notify with the same URL, or --notify none to go on without; env:NAME and file:PATH are found again",
					"the run notifies %s, whose secret is not stored", shown)
			}
		}
		o.Notify.Value = p.Notify
	}
	return o.Receivers()
}
