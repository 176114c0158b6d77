// Attacks on the name in which access is requested: on grants, on kinds that follow a repository, and on the grants that such
// objects own.
import { clusterAdministrator, controllers, dave, mia } from '../identities.ts'
import { type Follower, followers, repositoryGrant } from '../objects.ts'
import { allowed, expecting, ownerOf, type Row } from './row.ts'

const refused = expecting('requested-by')
const refusedMetadata = expecting('reserved-metadata')
const grants = '/apis/github.sekisho.dev/v1alpha1/namespaces/acme/repositorygrants'

function ownedGrantRows({ apiVersion, kind }: Follower): readonly Row[] {
  const grantOf = (requester: string, owner: object) => repositoryGrant('a', requester, { ownerReferences: [owner] })
  const owner = ownerOf(apiVersion, kind, true)
  return [
    allowed.post(`the platform requests for dave’s ${kind}`, controllers, grants, grantOf(dave.user, owner)),
    expecting('requested-by', 'reserved-metadata').post(
      `dave requests in mia’s name as if for a ${kind}`,
      dave,
      grants,
      grantOf(mia.user, owner),
    ),
    refused.post(
      `the platform requests for another group’s ${kind}`,
      controllers,
      grants,
      grantOf(dave.user, ownerOf('apps.example.com/v1', kind, true)),
    ),
    refused.post(
      `the platform requests for a ${kind} that does not control the grant`,
      controllers,
      grants,
      grantOf(dave.user, ownerOf(apiVersion, kind)),
    ),
  ]
}

function followerRows({ kind, path, object, change }: Follower): readonly Row[] {
  const wake = { metadata: { annotations: { 'sekisho.dev/wake': 'x' } } }
  return [
    allowed.post(`dave creates a ${kind}`, dave, path, object('a', dave.user)),
    refusedMetadata.patch(`dave wakes his own ${kind}`, dave, `${path}/dave`, wake),
    refused.post(`dave creates a ${kind} in mia’s name`, dave, path, object('a', mia.user)),
    refused.post(`the platform creates a ${kind} in mia’s name`, controllers, path, object('a', mia.user)),
    refused.patch(`mia changes dave’s ${kind} and leaves his name`, mia, `${path}/dave`, { spec: change }),
    allowed.patch(`mia changes dave’s ${kind} in her own name`, mia, `${path}/dave`, {
      spec: { ...change, requestedBy: mia.user },
    }),
    refused.patch(`mia puts dave’s name into her ${kind}`, mia, `${path}/mia`, { spec: { requestedBy: dave.user } }),
    allowed.patch(`mia labels dave’s ${kind}`, mia, `${path}/dave`, { metadata: { labels: { a: 'b' } } }),
    allowed.patch(`the platform wakes dave’s ${kind}`, controllers, `${path}/dave`, wake),
    refused.patch(`the platform changes dave’s ${kind}`, controllers, `${path}/dave`, { spec: change }),
    allowed.patch(`dave changes his own ${kind}`, dave, `${path}/dave`, { spec: change }),
  ]
}

const pipelineOwner = ownerOf('apps.sekisho.dev/v1alpha1', 'AppPipeline', true)

/** What the platform makes for an object that follows a repository may itself follow one: previews do. */
function ownedFollowerRows({ kind, path, object }: Follower): readonly Row[] {
  const owned = (requester: string, owner: object): object => {
    const { metadata, ...rest } = object('a', requester)
    return { ...rest, metadata: { ...metadata, ownerReferences: [owner] } }
  }
  return [
    allowed.post(
      `the platform creates a ${kind} of an AppPipeline in dave’s name`,
      controllers,
      path,
      owned(dave.user, pipelineOwner),
    ),
    refused.post(
      `the platform creates a ${kind} in dave’s name that an AppPipeline does not control`,
      controllers,
      path,
      owned(dave.user, ownerOf('apps.sekisho.dev/v1alpha1', 'AppPipeline')),
    ),
    expecting('requested-by', 'reserved-metadata').post(
      `dave creates a ${kind} in mia’s name as if for an AppPipeline`,
      dave,
      path,
      owned(mia.user, pipelineOwner),
    ),
  ]
}

export const requestRows: readonly Row[] = [
  allowed.post('dave requests in his own name', dave, grants, repositoryGrant('a', dave.user)),
  refused.post('dave requests in mia’s name', dave, grants, repositoryGrant('a', mia.user)),
  refused.post('the administrator requests in dave’s name', clusterAdministrator, grants, repositoryGrant('a', dave.user)),
  refused.post('the platform requests in dave’s name without an owner', controllers, grants, repositoryGrant('a', dave.user)),
  refused.apply('dave applies a grant in mia’s name', dave, `${grants}/new?fieldManager=x`, repositoryGrant('new', mia.user)),
  ...followers.flatMap(ownedGrantRows),
  ...followers.flatMap(ownedFollowerRows),
  ...followers.flatMap(followerRows),
]
