// Package scratch makes the directories that experiments write to. It also finds and removes what a killed Filewise has
// left in them.
//
// Every directory is registered before it is made, in one small file each in the user's state directory
// ($FILEWISE_STATE, else $XDG_STATE_HOME/filewise, else ~/.local/state/filewise, on Windows %LOCALAPPDATA%\filewise).
// The directory carries a marker with the same ID. A directory is removed only if its registration, name and marker agree,
// and its owner is dead. The owner holds a lock on the marker, and the kernel reports whether it still does. A process is
// ended only if its PID, start time and marker agree.
package scratch
