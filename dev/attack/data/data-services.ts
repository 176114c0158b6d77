// What tenants do with the credentials that they have, on the servers that they share with others.
import type { Attack, Attempt } from '../attack.ts'
import { stopped } from '../verdict.ts'
import type { World } from '../world/world.ts'
import { bucketPathAttempts } from './bucket-paths.ts'
import { classOf, type ServiceType } from './credential.ts'
import { keptBucketAttempts } from './kept-buckets.ts'
import { lockAttempts } from './locks.ts'

type Attempts = (world: World, serviceClass: string) => Promise<readonly Attempt[]>

/** Where the platform offers no such service, nobody has a credential of one. */
function onServer(type: ServiceType, attempts: Attempts): Attack['attempts'] {
  return async world => {
    const serviceClass = await classOf(world, type)
    if (serviceClass !== undefined) return attempts(world, serviceClass)
    const run = async () => stopped('absent', `no ServiceClass is of type ${type}: all of them were read`)
    return [{ name: `gary: looks for a server of type ${type}`, run }]
  }
}

export const dataServiceAttacks: readonly Attack[] = [
  {
    name: 'data/bucket-paths',
    as: 'gary, admin of globex, with a key of its own bucket',
    against: 'the bucket of acme in the same store',
    tries:
      'Deletes objects whose names are paths into the bucket of acme, and lists, fills and aborts uploads whose ids are such paths.',
    expected: ['data service', 'absent'],
    attempts: onServer('bucket', bucketPathAttempts),
  },
  {
    name: 'data/kept-buckets',
    as: 'gary, admin of globex',
    against: 'the room in the store that all tenants share',
    tries: 'Fills more buckets than it may leave behind, and deletes their Buckets at once with `Keep`.',
    expected: ['bound', 'absent'],
    form: 'long',
    attempts: onServer('bucket', keptBucketAttempts),
  },
  {
    name: 'data/locks',
    as: 'gary, admin of globex, with a login that only reads its own database',
    against: 'all databases of the same PostgreSQL server',
    tries: 'Takes every lock that the server has, so that nobody else can log in, and logs in again after it was thrown out.',
    expected: ['data service', 'absent'],
    // Nobody on that server can begin anything for some seconds.
    alone: true,
    attempts: onServer('postgresql', lockAttempts),
  },
]
