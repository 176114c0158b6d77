// What one process of the platform must not do although another one does it, in the production form; and admission, which
// writes nothing at all.
import { admission, broker, controllers, dave } from '../identities.ts'
import { installation, namespace, repositoryGrant, secret, tenant, tenantLabel } from '../objects.ts'
import { tokenOf, tokenRequest } from './access-rows.ts'
import { redirect } from './ingress-rows.ts'
import { standingIn } from './installation-rows.ts'
import { expecting, ownerOf, type Row } from './row.ts'

const acme = '/api/v1/namespaces/acme'
const inAcme = (group: string, plural: string): string => `/apis/${group}/v1alpha1/namespaces/acme/${plural}`
const installations = inAcme('github.sekisho.dev', 'installations')
const grants = inAcme('github.sekisho.dev', 'repositorygrants')
const tenants = '/apis/tenancy.sekisho.dev/v1alpha1/tenants'
const platformSecrets = '/api/v1/namespaces/sekisho-system/secrets'
const ownedGrant = repositoryGrant('a', dave.user, {
  ownerReferences: [ownerOf('apps.sekisho.dev/v1alpha1', 'RemoteSync', true)],
})
const claim = {
  apiVersion: 'tenancy.sekisho.dev/v1alpha1',
  kind: 'DomainClaim',
  metadata: { name: 'mine.test' },
  spec: { host: 'mine.test', tenant: { name: 'acme', uid: 'u' }, proof: 'DNS' },
}

const writers = expecting('installation-writers')
const status = expecting('status-writers')
const secrets = expecting('reserved-secrets')

/** Of the production form: in the standalone form all are one. */
export const ownProcessRows: readonly Row[] = [
  ...[controllers, admission].flatMap(as => [
    writers.post(`${as.user} creates an Installation`, as, installations, installation({ name: 'mine' })),
    writers.patch(`${as.user} lets dave stand in for a binding`, as, `${installations}/github`, standingIn),
    expecting('tenant-writers').post(`${as.user} creates a Tenant`, as, tenants, tenant('mine')),
    expecting('tenant-writers').remove(`${as.user} deletes a Tenant`, as, `${tenants}/acme`),
  ]),
  ...[broker, admission].flatMap(as => [
    status.patch(`${as.user} approves a grant`, as, `${grants}/held/status`, { status: { conditions: [] } }),
    status.patch(`${as.user} verifies an Installation`, as, `${installations}/github/status`, { status: { appId: 1 } }),
    secrets.post(`${as.user} makes a reserved Secret`, as, `${acme}/secrets`, secret({ name: 'ghtok-x' })),
    secrets.remove(`${as.user} deletes a reserved Secret`, as, `${acme}/secrets/ghtok-held`),
    expecting('requested-by', 'reserved-metadata').post(`${as.user} requests for dave’s RemoteSync`, as, grants, ownedGrant),
    expecting('domain-claim-writers').post(
      `${as.user} claims a domain`,
      as,
      '/apis/tenancy.sekisho.dev/v1alpha1/domainclaims',
      claim,
    ),
    expecting('namespace-guard').post(
      `${as.user} makes a tenant’s namespace`,
      as,
      '/api/v1/namespaces',
      namespace('new', tenantLabel),
    ),
  ]),
  writers.patch('the broker labels an Installation', broker, `${installations}/github`, { metadata: { labels: { a: 'b' } } }),
  writers.patch('the broker gives an Installation an owner', broker, `${installations}/github`, {
    metadata: { ownerReferences: [ownerOf('v1', 'ConfigMap')] },
  }),
  expecting('installation-writers', 'kind-finalizers').patch(
    'the broker removes the finalizer of an Installation',
    broker,
    `${installations}/github`,
    { metadata: { finalizers: [] } },
  ),
  ...[broker, admission].map(as =>
    expecting('platform-account-tokens').post(
      `${as.user} asks for a token of the account without rights`,
      as,
      tokenOf('sekisho-system', 'sekisho-wall-probe'),
      tokenRequest,
    ),
  ),
  expecting('ingress-content', 'own-writes').post(
    'the broker makes an Ingress that redirects',
    broker,
    '/apis/networking.k8s.io/v1/namespaces/acme/ingresses',
    redirect('x'),
  ),
  expecting('platform-configuration').patch('admission changes a Secret of the platform', admission, `${platformSecrets}/held`, {
    data: { token: 'eQ==' },
  }),
]
