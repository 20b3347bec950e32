// Package machine reads facts about the machine that is measured on: facts for reports, the devices behind volumes, and
// free space. Facts leave out the host's name, addresses and users, since reports are shown to others. No verdict
// depends on facts.
package machine
