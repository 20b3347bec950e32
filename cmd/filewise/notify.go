package main

import (
	"fmt"
	"slices"
	"strings"

	"filewise"
	"filewise/run/plan"
	"filewise/watch/notify"
)

// notifier returns a notifier for the receivers that the flags name, or nil if there are none. It keeps their secrets
// out of what is printed, and warns a user who typed one on the command line.
func (a *app) notifier(t plan.Receivers) *notify.Notifier {
	if len(t.Addresses) == 0 {
		return nil
	}
	a.hideNotify(t)
	return notify.New(t.Addresses, t.Events)
}

func (a *app) hideNotify(t plan.Receivers) {
	for _, address := range t.Addresses {
		a.hide(address.Secrets()...)
	}
	typed := slices.ContainsFunc(t.Addresses, func(n notify.Address) bool {
		return slices.ContainsFunc(n.Secrets(), func(s filewise.Secret) bool {
			return slices.ContainsFunc(a.args, func(arg string) bool { return strings.Contains(arg, s.Reveal()) })
		})
	})
	if typed && !a.json {
		fmt.Fprintln(a.stderr, "filewise: hint: others on this machine can see the secret of --notify in the command line (ps); "+
			"--notify env:NAME, --notify file:PATH and FILEWISE_NOTIFY do not show it")
	}
}
