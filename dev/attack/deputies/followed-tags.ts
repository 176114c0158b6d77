// Tags that the platform would ask a registry for in the name of a tenant: the address of each is one that gary would like it
// to send a request to.
import type { Attack } from '../attack.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { application } from './manifests.ts'
import { objectAttempt } from './object-attempts.ts'

function images({ targets }: World): readonly string[] {
  const [victim = ''] = targets.victim.image.split('@')
  const { host: apiServer } = new URL(targets.apiServer)
  return [
    `${victim}:latest`,
    `${targets.registry}/sekisho/sekisho:latest`,
    `${apiServer}/api/v1:latest`,
    '169.254.169.254/latest/meta-data:v1',
    'kubernetes.default.svc/api/v1:latest',
    'sekisho-source.sekisho-system.svc:8081/acme/shop:v1',
    '127.0.0.1:8090/metrics:v1',
    'registry.evil.example/acme/shop:v1',
  ]
}

export const followedTagAttacks: readonly Attack[] = [
  {
    name: 'deputies/followed-tags',
    as: 'gary, admin of globex',
    against: 'addresses that the controllers reach and he does not, and the images of acme and of the platform',
    tries: 'An Application follows a tag at an address that no administrator listed.',
    expected: ['controller'],
    attempts: world =>
      images(world).map((image, index) =>
        objectAttempt(world, {
          name: `the tag ${image}`,
          path: applicationsPath,
          object: application(`attack-followed-${index}`, image, { followTag: true }),
          refusals: /^(ForeignImage|RegistryNotFollowed)$/,
        }),
      ),
  },
]
