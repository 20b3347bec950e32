package machine

const privateServers, lacks = true, ""
