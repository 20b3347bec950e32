package machine

const managedServers, lacks = true, ""
