// The release job: runs once for each release, with its image and its secrets, before a process is replaced. When it fails, the release is not rolled
// out. A program with a database would run its migrations here; this one only checks its setting.
import { database } from './database.js'

const { host, name } = database()
console.log(`release job: the database is ${name} on ${host}`)
