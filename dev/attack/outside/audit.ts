// The audit log over the broker's API, as people of globex and acme and without a credential: pages, streams, names, what a
// platform admin alone may read and allow.
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker } from '../judge.ts'
import { stopped, succeeded, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { ask } from './broker.ts'

const auditQueries = [
  '',
  '?namespace=acme',
  '?namespace=sekisho-system',
  '?namespace=acme&namespace=globex',
  '?namespace[]=acme',
  '?namespace=acme&limit=1&after=0',
  '?before=999999&namespace=acme',
  '?actor=github%7Cgithub.localhost%7C1001&namespace=acme',
  '?namespace=acme-build',
  '?namespace=%61cme',
  "?namespace=acme'--",
  '/head',
  '/1',
  '/../audit?namespace=acme',
  // By what belongs to acme, and from before the tenant of the reader existed.
  '?uid=UID-OF-OTHERS',
  '?uid=UID-OF-OTHERS&namespace=acme',
  '?hashedToken=HASH-OF-OTHERS',
  '?hashedToken=HASH-OF-OTHERS&namespace=acme',
  '?repository=4001',
  '?repository=4001&namespace=acme',
  '?person=github%7Cgithub.localhost%7C1001&namespace=acme',
  '?object=RepositoryGrant/acme/demo-reader',
  '?what=tokens&namespace=acme',
  '?action=token.minted&namespace=acme',
  '?outcome=refused&namespace=acme&since=2000-01-01T00:00:00Z',
  '?since=2000-01-01T00:00:00Z&until=2099-01-01T00:00:00Z&namespace=acme',
  '/checkpoints',
  '/checkpoints?namespace=globex',
  '/head?namespace=globex',
]

/** Streams and names: each answers in a form of its own. */
const streams = ['?namespace=acme', '?namespace=acme&after=0', '?hashedToken=HASH-OF-OTHERS&namespace=acme', '?uid=UID-OF-OTHERS']
const names = [
  '?person=olivia&namespace=acme',
  '?repository=acme/shop&namespace=acme',
  '?person=olivia&namespace=sekisho-system',
  '?repository=acme%2Fshop&namespace[]=acme',
]

type Entry = { readonly namespace?: string; readonly at?: string; readonly sequence?: number }

/** Whose log it is, and since when the tenant exists: its namespace may have belonged to another one before. */
type Part = { readonly own: string; readonly since: string }

/** A person who may read a part of the log gets that part, whatever was asked for. */
function judgeEntries(entries: readonly Entry[], { own, since }: Part): Verdict {
  const found = entries.find(({ namespace, at = '' }) => namespace !== own || Date.parse(at) < Date.parse(since))
  if (found !== undefined) return succeeded(JSON.stringify(found))
  return stopped('broker', `${entries.length} entries, all of ${own} since ${since}`)
}

function judgePage(part: Part): (answer: HttpAnswer) => Verdict {
  return answer => {
    if (answer.status !== 200) return judgeBroker(answer)
    const { entries } = JSON.parse(answer.text) as { readonly entries?: readonly Entry[] }
    return entries === undefined ? succeeded(answer.text) : judgeEntries(entries, part)
  }
}

/** Lines without a sequence say how far it was read, and nothing of an entry. */
function judgeStream(part: Part): (answer: HttpAnswer) => Verdict {
  return answer => {
    if (answer.status !== 200) return judgeBroker(answer)
    const lines = answer.text.split('\n').filter(line => line !== '')
    const entries = lines.map(line => JSON.parse(line) as Entry).filter(({ sequence }) => sequence !== undefined)
    return judgeEntries(entries, part)
  }
}

const actors = ['gary', 'dave', 'mia', 'noah', 'stranger'] as const
type Reader = (typeof actors)[number]

/** What of the other tenant an attacker would have seen elsewhere, such as in a log of GitHub. */
type Known = { readonly uid: string; readonly hash: string }

/** Its newest token, as a platform admin reads the log. */
async function knownOf(world: World, namespace: string): Promise<Known> {
  const token = (await world.credentials('ada')) ?? ''
  const path = `/api/v1/audit?limit=1&action=token.minted&namespace=${namespace}`
  const answer = await world.http.send(`${world.targets.issuer}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const { entries } = JSON.parse(answer.text) as {
    readonly entries: readonly { readonly details: { readonly grantUid?: string; readonly hashedToken?: string } }[]
  }
  const { grantUid = '', hashedToken = '' } = entries[0]?.details ?? {}
  return { uid: grantUid, hash: encodeURIComponent(hashedToken) }
}

async function begins(world: World, name: string): Promise<string> {
  const path = `/apis/tenancy.sekisho.dev/v1alpha1/tenants/${name}`
  const { metadata } = (await world.admin.call('GET', path)) as { readonly metadata: { readonly creationTimestamp: string } }
  return metadata.creationTimestamp
}

/** People of acme request what belongs to globex, all others what belongs to acme. */
async function attempts(world: World): Promise<readonly Attempt[]> {
  const parts: Readonly<Record<string, Part & Known>> = {
    acme: { own: 'globex', since: await begins(world, 'globex'), ...(await knownOf(world, 'acme')) },
    globex: { own: 'acme', since: await begins(world, 'acme'), ...(await knownOf(world, 'globex')) },
  }
  if (Object.values(parts).every(({ uid, hash }) => uid === '' || hash === ''))
    throw new Error('control: neither acme nor globex has a token in the log')
  const attempt = (as: Reader, place: string, query: string): Attempt => {
    const foreign = as === 'dave' || as === 'mia' ? 'globex' : 'acme'
    const part = parts[foreign] ?? { own: '', since: '', uid: '', hash: '' }
    const asked = query.replaceAll('acme', foreign).replaceAll('UID-OF-OTHERS', part.uid).replaceAll('HASH-OF-OTHERS', part.hash)
    const judge = place === '/stream' ? judgeStream(part) : judgePage(part)
    const name = `audit log ${place}${query.replaceAll('acme', foreign)}`
    return ask(world, { name, as, path: `/api/v1/audit${place}${asked}`, judge })
  }
  return [
    ...auditQueries.flatMap(query => actors.map(as => attempt(as, '', query))),
    ...streams.flatMap(query => actors.map(as => attempt(as, '/stream', query))),
    ...names.flatMap(query => actors.map(as => attempt(as, '/names', query))),
    ...ownQueries.map(query => attempt('gary', '', query)),
    attempt('gary', '/stream', '?since=2000-01-01T00:00:00Z'),
  ]
}

/** What he may ask: only what is of globex may be in the answer. */
const ownQueries = [
  '?limit=1000',
  '?after=0&limit=1000',
  '?before=999999',
  '?actor=github%7Cgithub.localhost%7C1001',
  '?since=2000-01-01T00:00:00Z&limit=1000',
  '?hashedToken=HASH-OF-OTHERS',
  '?uid=UID-OF-OTHERS',
  '?repository=4001',
]

export const auditAttacks: readonly Attack[] = [
  {
    name: 'broker/audit',
    as: 'dave of acme, gary of globex, noah, and a client without a credential',
    against: 'the audit log of others and of the platform',
    tries:
      'Reads the log of another namespace by every filter, as pages, stream and names, and from before the tenant was; the signed head and the checkpoints; and what of others is in one’s own.',
    expected: ['broker', 'authentication'],
    peer: 'Coolify CVE-2026-48742: objects loaded by id without a check of the team',
    attempts,
  },
]
