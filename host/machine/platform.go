package machine

import "filewise"

// Lacks returns what Filewise cannot do or see on this system. It is empty if nothing is lacking.
func Lacks() string { return lacks }

// ManagedServers returns nil if Filewise can start servers here. Otherwise it returns an error with CodePreflight and
// the reason.
func ManagedServers() error {
	if managedServers {
		return nil
	}
	return filewise.Errorf(filewise.CodePreflight, "name a server of yours: --target URL, or measure embedded: --engine sqlite",
		"Filewise starts no managed servers on this system: it has neither the process groups nor the signals by which they surely end with "+
			"it: %w", filewise.ErrUnsupported)
}
