// A person who is signed in is halted by a platform admin: sign-ins and stored tokens of GitHub end.
import { randomInt } from 'node:crypto'
import { halt } from '../../../src/api/github/halt.ts'
import { platformNamespace } from '../../../src/api/names.ts'
import { SecretString } from '../../../src/lib/secret-string.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type Environment, host } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { patience } from './waits.ts'

const count = ({ fixture, prefix }: Environment): Promise<string> =>
  fixture.query(prefix, 'SELECT (SELECT count(*) FROM broker.users), (SELECT count(*) FROM broker.sessions)')

export const haltedPersonScenario: Scenario = {
  name: 'broker-halt: a person who is signed in',
  controllers: ['broker-halt'],
  environment: { component: 'broker', namespace: 'tenant', github: 'repository' },
  compares: [],
  async act(environment) {
    // Nobody of the other environments, which share the namespace of the platform.
    const leaver = { host, userId: randomInt(1_000_000_000, 2_000_000_000), login: 'leaver' }
    const expiresAt = new Date(Date.now() + 3_600_000)
    await environment.store.users.save({
      ...leaver,
      accessToken: new SecretString('of the leaver'),
      accessTokenExpiresAt: expiresAt,
      groups: [],
    })
    await environment.store.sessions.create({ ...leaver, expiresAt, data: {} })
    const target = { type: 'Person', person: { host, id: leaver.userId } }
    const spec = { target, reason: 'left in anger', requestedBy: `github|${host}|1` }
    await environment.apply(halt, `${environment.prefix}-leaver`, { spec }, platformNamespace)
    await waitUntil('nothing is left', async () => ((await count(environment)) === '0|0' ? true : undefined), patience)
  },
  async more(environment) {
    return { left: await count(environment) }
  },
}
