package filesystem

// Place tells a directory from another one that is later found under its path, as
// an empty mount point is from the volume that was mounted there.
type Place struct {
	Device uint64 `json:"device,omitempty"` // st_dev; another mount of a volume may have another
	Inode  uint64 `json:"inode,omitempty"`
	System string `json:"system,omitempty"` // f_fsid of statfs(2), which many file systems keep
}

// Same reports whether both are one directory, as far as is known.
func (p Place) Same(q Place) bool {
	if p == (Place{}) || q == (Place{}) {
		return true
	}
	return p.Inode == q.Inode && (p.Device == q.Device || p.System != "" && p.System == q.System)
}
