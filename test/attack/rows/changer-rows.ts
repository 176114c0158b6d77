// Attempts at having an Application say that somebody else changed it, or that nobody did.
import {
  clusterAdministrator,
  controllers,
  dave,
  garbageCollector,
  type Identity,
  impostor,
  mia,
  platformAdministrator,
} from '../identities.ts'
import type { Body, Existing } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const apps = '/apis/apps.sekisho.dev/v1alpha1/namespaces/acme'
const changedByKey = 'sekisho.dev/changed-by'
/** An Application that says about itself who changed it; at generation 1 after it was created. */
function changed(name: string, text?: string): Body {
  const annotations = text === undefined ? {} : { annotations: { [changedByKey]: text } }
  const spec = { processes: [{ name: 'worker' }] }
  return { apiVersion: 'apps.sekisho.dev/v1alpha1', kind: 'Application', metadata: { name, ...annotations }, spec }
}
const saying = (text: string | null, spec?: object) => ({
  metadata: { annotations: { [changedByKey]: text } },
  ...(spec && { spec }),
})
const changedSpec = { releasesKept: 9 }
const ofMia = `${apps}/applications/changed`
export const changerFixtures: readonly Existing[] = [
  { path: `${apps}/applications`, object: changed('changed', `1-1 ${mia.user}`) },
]

/** With a login, as the API server knows people. */
const ofOctocat: Identity = { ...dave, login: 'octocat' }
/** What is not a login is not recorded. */
const spaced: Identity = { ...dave, login: `mia ${mia.user}` }
const falseName = expecting('changed-by')
const others = [dave, impostor, controllers, platformAdministrator, clusterAdministrator]
export const changerRows: readonly Row[] = [
  ...others.flatMap(as => [
    falseName.post(`${as.user} makes an Application as mia`, as, `${apps}/applications`, changed('new', `1-1 ${mia.user}`)),
    falseName.patch(`${as.user} changes an Application as mia`, as, ofMia, saying(`2-2 ${mia.user}`, changedSpec)),
    falseName.patch(`${as.user} goes on with mia’s changes`, as, ofMia, saying(`1-2 ${mia.user}`, changedSpec)),
    falseName.patch(`${as.user} says that mia’s changes were theirs`, as, ofMia, saying(`1-2 ${as.user}`, changedSpec)),
    falseName.patch(`${as.user} takes over mia’s change without one`, as, ofMia, saying(`1-1 ${as.user}`)),
    falseName.patch(`${as.user} names mia for a change to come`, as, ofMia, saying(`1-2 ${mia.user}`)),
    falseName.patch(`${as.user} hides that mia changed it`, as, ofMia, saying(null)),
    allowed.patch(`${as.user} changes an Application and says nothing`, as, ofMia, { spec: changedSpec }),
    allowed.patch(`${as.user} changes an Application and names nobody`, as, ofMia, saying(null, changedSpec)),
  ]),
  ...[dave, platformAdministrator, clusterAdministrator].map(as =>
    allowed.patch(`${as.user} says the truth`, as, ofMia, saying(`2-2 ${as.user}`, changedSpec)),
  ),
  falseName.post(
    'mia makes an Application and claims a later generation',
    mia,
    `${apps}/applications`,
    changed('new', `2-2 ${mia.user}`),
  ),
  falseName.apply(
    'dave applies a file that names mia',
    dave,
    `${apps}/applications/new?fieldManager=x`,
    changed('new', `1-1 ${mia.user}`),
  ),
  falseName.jsonPatch('dave replaces the name', dave, ofMia, [
    { op: 'replace', path: '/metadata/annotations/sekisho.dev~1changed-by', value: `1-1 ${dave.user}` },
  ]),
  allowed.patch('a person with a login says the truth', ofOctocat, ofMia, saying(`2-2@octocat ${dave.user}`, changedSpec)),
  falseName.patch('a person hides the own login', ofOctocat, ofMia, saying(`2-2 ${dave.user}`, changedSpec)),
  falseName.patch('a person has another login', ofOctocat, ofMia, saying(`2-2@mia ${dave.user}`, changedSpec)),
  falseName.patch('a person without a login has one', dave, ofMia, saying(`2-2@mia ${dave.user}`, changedSpec)),
  falseName.patch('a person has mia’s name as login', spaced, ofMia, saying(`2-2@mia ${mia.user} ${dave.user}`, changedSpec)),
  allowed.patch('a person whose login is none says the truth', spaced, ofMia, saying(`2-2 ${dave.user}`, changedSpec)),
  allowed.post('mia makes an Application and says so', mia, `${apps}/applications`, changed('new', `1-1 ${mia.user}`)),
  allowed.post('dave makes an Application and says nothing', dave, `${apps}/applications`, changed('new')),
  allowed.patch('mia goes on with her changes', mia, ofMia, saying(`1-2 ${mia.user}`, changedSpec)),
  allowed.patch('dave labels an Application that mia changed', dave, ofMia, { metadata: { labels: { a: 'b' } } }),
  allowed.patch('dave scales an Application that mia changed', dave, `${ofMia}/scale`, { spec: { replicas: 3 } }),
  allowed.patch('the garbage collector labels it', garbageCollector, ofMia, { metadata: { labels: { a: 'b' } } }),
  expecting('reserved-metadata').patch(
    'dave has the annotation on another kind',
    dave,
    '/apis/apps/v1/namespaces/acme/deployments/own',
    saying('1-1 x'),
  ),
  expecting('reserved-metadata').patch('dave has a label like the annotation', dave, ofMia, {
    metadata: { labels: { [changedByKey]: 'x' } },
  }),
]
