package machine

import "filewise"

// Lacks returns what Filewise cannot do or see on this system. Empty means nothing.
func Lacks() string { return lacks }

// ManagedServers is nil if Filewise can start servers itself, else an error of code preflight that reports why not.
func ManagedServers() error {
	if managedServers {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "name a server of yours: --target URL, or measure embedded: --engine sqlite",
		"Filewise starts no managed servers on this system: it has neither the process groups nor the signals by which they surely end with "+
			"it: %w", filewise.ErrUnsupported)
}
