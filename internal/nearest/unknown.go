package nearest

import "filewise"

// Unknown is the usage error for a name that is not among the known ones.
func Unknown(what, given string, known []string) error {
	return filewise.Errorf(filewise.CodeUsage, Remedy(given, known), "%s %q is unknown", what, given)
}
