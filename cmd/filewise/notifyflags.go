package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filewise"
	"filewise/experiment"
	"filewise/notify"
	"filewise/workload"
)

// notifyFlags say who is told of what: those of run, plan and resume.
type notifyFlags struct {
	urls []string
	on   string

	addresses []notify.Address
	events    []notify.Event
	shown     []string // as stored: without secrets
}

const notifyUsage = "tell this `URL` how the run goes: smtp://, slack://, teams://, ntfy://, or https:// of a webhook; env:NAME or file:PATH hold URLs that nobody should see (repeatable)"

func (f *notifyFlags) register(fs *pflag.FlagSet) {
	all := make([]string, len(notify.Events))
	for i, e := range notify.Events {
		all[i] = string(e)
	}
	f.registerURLs(fs)
	fs.StringVar(&f.on, "notify-on", strings.Join(all, ","), "`events` to tell of, with commas")
}

// registerURLs is for commands that choose no events.
func (f *notifyFlags) registerURLs(fs *pflag.FlagSet) {
	fs.StringArrayVar(&f.urls, "notify", nil, notifyUsage)
}

// setNotify puts into the plan who is told, without secrets.
func (f *planFlags) setNotify(cmd *cobra.Command, p *experiment.Plan, _ workload.Scenario) error {
	if err := f.notify.read(); err != nil {
		return err
	}
	p.Notify = f.notify.shown
	if cmd.Flags().Changed("notify-on") {
		p.NotifyOn = f.notify.on
	}
	return nil
}

// read parses what is given.
func (f *notifyFlags) read() (err error) {
	if f.on != "" {
		if f.events, err = notify.ParseEvents(f.on); err != nil {
			return err
		}
	}
	if slices.Equal(f.urls, []string{"none"}) { // instead of a variable's, or those of the run
		return nil
	}
	for _, given := range f.urls {
		urls, err := notifyURLs(given)
		if err != nil {
			return err
		}
		for _, u := range urls {
			a, err := notify.Parse(u)
			if err != nil {
				return err
			}
			f.addresses = append(f.addresses, a)
			if given == u {
				f.shown = append(f.shown, a.String())
			}
		}
		if !strings.Contains(given, "://") {
			f.shown = append(f.shown, given) // where they are is no secret
		}
	}
	return nil
}

// notifyURLs are those that a value of --notify stands for. In variables and files
// they are apart by spaces or lines; a line that begins with # is a comment.
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

// secretFile reads a file that not everybody can read.
func secretFile(path string) (string, error) {
	refuse := func(remedy string, err error) (string, error) {
		return "", filewise.Errorf(filewise.CodeUsage, remedy, "--notify file:%s: %w", path, err)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return refuse("name a file that you may read", err)
	case !info.Mode().IsRegular():
		return refuse("name a file", errors.New("it is no regular file"))
	case info.Mode().Perm()&0o006 != 0:
		return refuse("chmod 600 "+path, fmt.Errorf("every user of this machine may read or write it (%v)", info.Mode().Perm()))
	case info.Size() > 1<<20:
		return refuse("name the file that holds the URLs alone", errors.New("it is too large"))
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return refuse("name a file that you may read", err)
	}
	return string(b), nil
}

// again is for a run that goes on: who is told is as it was, unless given anew. Only
// what holds secrets, which are not stored, has to be.
func (f *notifyFlags) again(cmd *cobra.Command, p experiment.Plan) error {
	if !cmd.Flags().Changed("notify-on") && p.NotifyOn != "" {
		f.on = p.NotifyOn
	}
	if len(f.urls) == 0 {
		for _, shown := range p.Notify {
			if strings.Contains(shown, filewise.Secret("x").String()) {
				return filewise.Errorf(filewise.CodeUsage, "give --notify with the same URL, or --notify none to go on without; env:NAME and file:PATH are found again",
					"the run notifies %s, whose secret is not stored", shown)
			}
		}
		f.urls = p.Notify
	}
	return f.read()
}
