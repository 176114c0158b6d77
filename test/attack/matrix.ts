// The one table of (identity, request, expected): sent to the real API server with the policies alone, the webhook alone,
// both, and the webhook down. Every request is a dry run, so that rows neither depend on nor disturb each other; the objects
// that they act on are in fixtures.ts.
import { accessRows } from './rows/access-rows.ts'
import { accountPodRows } from './rows/account-rows.ts'
import { applicationRows } from './rows/application-rows.ts'
import { approvalProcessRows, approvalRows } from './rows/approval-rows.ts'
import { buildPodRows } from './rows/build-pod-rows.ts'
import { changerRows } from './rows/changer-rows.ts'
import { claimTemplateRows } from './rows/claim-template-rows.ts'
import { grantApprovalProcessRows, grantApprovalRows } from './rows/grant-approval-rows.ts'
import { haltRows } from './rows/halt-rows.ts'
import { ingressRows } from './rows/ingress-rows.ts'
import { installationRows } from './rows/installation-rows.ts'
import { kindRows } from './rows/kind-rows.ts'
import { metadataRows } from './rows/metadata-rows.ts'
import { namespaceRows } from './rows/namespace-rows.ts'
import { ownProcessRows } from './rows/own-process-rows.ts'
import { budgetRows, podEndRows } from './rows/pod-end-rows.ts'
import { podLabelRows } from './rows/pod-label-rows.ts'
import { podRows } from './rows/pod-rows.ts'
import { podSourceRows } from './rows/pod-source-rows.ts'
import { laterRows, referenceRows } from './rows/reference-rows.ts'
import { requestRows } from './rows/requester-rows.ts'
import type { Row } from './rows/row.ts'
import { secretRows } from './rows/secret-rows.ts'
import { serviceKindProcessRows, serviceKindRows } from './rows/service-kind-rows.ts'
import { proxyRows } from './rows/service-proxy-rows.ts'
import { networkRows } from './rows/service-rows.ts'
import { taskRows } from './rows/task-rows.ts'
import { tenantRows } from './rows/tenant-rows.ts'
import { laterTokenSecretRows, tokenSecretRows } from './rows/token-secret-rows.ts'
import { volumeRows } from './rows/volume-rows.ts'

const everyForm: readonly Row[] = [
  ...installationRows,
  ...tenantRows,
  ...requestRows,
  ...secretRows,
  ...referenceRows,
  ...laterRows,
  ...tokenSecretRows,
  ...laterTokenSecretRows,
  ...namespaceRows,
  ...networkRows,
  ...proxyRows,
  ...ingressRows,
  ...kindRows,
  ...metadataRows,
  ...podRows,
  ...podLabelRows,
  ...podSourceRows,
  ...podEndRows,
  ...budgetRows,
  ...taskRows,
  ...applicationRows,
  ...changerRows,
  ...approvalRows,
  ...grantApprovalRows,
  ...haltRows,
  ...accountPodRows,
  ...volumeRows,
  ...claimTemplateRows,
  ...buildPodRows,
  ...accessRows,
  ...serviceKindRows,
]

const ofProcesses = /:sekisho-(broker|controllers|data-services)$/

/**
 * The rows of broker, controllers and data-services, and of who has such a name elsewhere, under the name of the ServiceAccount
 * that is all of them in the standalone form.
 */
const standaloneRows: readonly Row[] = everyForm
  .filter(({ as }) => ofProcesses.test(as.user))
  .map(row => {
    const user = row.as.user.replace(ofProcesses, ':sekisho')
    return { ...row, name: `${row.name} (standalone form)`, as: { ...row.as, user } }
  })

/** The rows of both forms of the platform: the policies name the ServiceAccounts of both. */
export const matrix: readonly Row[] = [
  ...everyForm,
  ...ownProcessRows,
  ...approvalProcessRows,
  ...grantApprovalProcessRows,
  ...serviceKindProcessRows,
  ...standaloneRows,
]
