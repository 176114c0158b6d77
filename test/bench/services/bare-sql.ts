// The peer of the bench: what makes as many databases with a login each on the same server, by statements and nothing else: no
// object, no proof of what a login can do, no Secret. As many sessions at once as the platform has.
import { randomBytes } from 'node:crypto'
import { quoted } from '../../../src/data-services/adapters/postgresql/identifiers.ts'
import type { Server } from '../../../src/data-services/adapters/postgresql/server.ts'
import { someAtATime } from '../load/some-at-a-time.ts'

const sessions = 4

export function makeDatabases(server: Server, names: readonly string[]): Promise<void> {
  return someAtATime(names, sessions, name => makeDatabase(server, name))
}

async function makeDatabase(server: Server, name: string): Promise<void> {
  const [database, owner, reader, login] = [name, `o_${name}`, `r_${name}`, `l_${name}`].map(quoted)
  await server.asAdministrator(async session => {
    await session.query(`CREATE ROLE ${owner} NOLOGIN`)
    await session.query(`CREATE ROLE ${reader} NOLOGIN`)
    await session.query(`CREATE DATABASE ${database} TEMPLATE template0 ENCODING 'UTF8' CONNECTION LIMIT 10`)
    await session.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`)
    await session.query(`GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${database} TO ${owner}`)
    await session.query(`GRANT CONNECT ON DATABASE ${database} TO ${reader}`)
  })
  await server.asAdministrator(async session => {
    const inFuture = `ALTER DEFAULT PRIVILEGES FOR ROLE ${owner} GRANT SELECT ON`
    await session.query(`ALTER SCHEMA public OWNER TO ${owner}`)
    await session.query('REVOKE ALL ON SCHEMA public FROM PUBLIC')
    await session.query(`GRANT USAGE ON SCHEMA public TO ${reader}`)
    await session.query(`${inFuture} TABLES TO ${reader}`)
    await session.query(`${inFuture} SEQUENCES TO ${reader}`)
  }, name)
  await server.asAdministrator(async session => {
    const password = randomBytes(24).toString('hex')
    await session.query(`CREATE ROLE ${login} LOGIN NOINHERIT CONNECTION LIMIT 5 PASSWORD '${password}'`)
    await session.query(`ALTER ROLE ${login} SET role = ${owner}`)
    await session.query(`GRANT ${owner} TO ${login}`)
    await session.query(`GRANT CONNECT ON DATABASE ${database} TO ${login}`)
  })
}

export async function dropDatabases(server: Server, names: readonly string[]): Promise<void> {
  for (const name of names)
    await server.asAdministrator(async session => {
      await session.query(`DROP DATABASE ${quoted(name)} WITH (FORCE)`)
      for (const role of [`l_${name}`, `o_${name}`, `r_${name}`]) await session.query(`DROP ROLE ${quoted(role)}`)
    })
}
