// Every admission rule. A new rule is one file in a folder here and one line below; the webhook, the policies and the generated
// YAML follow from the list.
import type { PolicyRule, Rule } from '../rule.ts'
import { accountTokens, grantedAccountTokens, platformAccountTokens } from './access/account-tokens.ts'
import { buildConnections } from './access/build-connections.ts'
import { kpackWriters } from './access/kpack-writers.ts'
import { roleWriters } from './access/role-writers.ts'
import { accountWriters } from './accounts/account-writers.ts'
import { applicationPodCommands } from './accounts/application-pod-commands.ts'
import { applicationPods } from './accounts/application-pods.ts'
import { administratorsApprovals } from './approvals/administrators-approvals.ts'
import { breakGlassWriters } from './approvals/break-glass-writers.ts'
import { grantApprovalWriters } from './approvals/grant-approval-writers.ts'
import { previewApprovalWriters } from './approvals/preview-approval-writers.ts'
import { builtImages } from './apps/built-images.ts'
import { changedBy } from './apps/changed-by.ts'
import { renderedObjects } from './apps/rendered-objects.ts'
import { reportWriters } from './apps/report-writers.ts'
import { haltPlaces } from './halts/halt-places.ts'
import { haltWriters } from './halts/halt-writers.ts'
import { haltedAnswers, haltedPersons, haltedPersonsElsewhere } from './halts/halted-persons.ts'
import { platformHalts } from './halts/platform-halts.ts'
import { applicationCommit } from './kinds/application-commit.ts'
import { domainClaimWriters } from './kinds/domain-claim-writers.ts'
import { installationWriters } from './kinds/installation-writers.ts'
import { kindFinalizers } from './kinds/kind-finalizers.ts'
import { ownedWriters } from './kinds/owned-writers.ts'
import { platformKinds } from './kinds/platform-kinds.ts'
import { releaseWriters } from './kinds/release-writers.ts'
import { requestedBy } from './kinds/requested-by.ts'
import { serviceClassWriters } from './kinds/service-class-writers.ts'
import { statusWriters } from './kinds/status-writers.ts'
import { tenantWriters } from './kinds/tenant-writers.ts'
import { namespaceGuard } from './metadata/namespace-guard.ts'
import { podLabels } from './metadata/pod-labels.ts'
import { reservedMetadata } from './metadata/reserved-metadata.ts'
import { endpointWriters } from './network/endpoint-writers.ts'
import { ingressContent, ingressWriters } from './network/ingress-writers.ts'
import { serviceAddresses } from './network/service-addresses.ts'
import { servicePorts } from './network/service-ports.ts'
import { serviceProxy } from './network/service-proxy.ts'
import { ownNamespaces } from './own/own-namespaces.ts'
import { ownPodDeletions } from './own/own-pod-deletions.ts'
import { ownRoleBindings } from './own/own-role-bindings.ts'
import { ownWrites } from './own/own-writes.ts'
import { buildPods } from './pods/build-pods.ts'
import { disruptionBudgets } from './pods/disruption-budgets.ts'
import { podDeletion } from './pods/pod-deletion.ts'
import { podEnd } from './pods/pod-end.ts'
import { podExec } from './pods/pod-exec.ts'
import { podPlacement } from './pods/pod-placement.ts'
import { podRuntimeClass } from './pods/pod-runtime-class.ts'
import { podSources } from './pods/pod-sources.ts'
import { podUsers } from './pods/pod-users.ts'
import { appSecretCopies } from './secrets/app-secret-copies.ts'
import { operatorReferences } from './secrets/operator-references.ts'
import { platformConfiguration } from './secrets/platform-configuration.ts'
import { reservedSecrets } from './secrets/reserved-secrets.ts'
import { secretKinds } from './secrets/secret-kinds.ts'
import {
  registryReferences,
  registryReferencesElsewhere,
  secretReferences,
  secretReferencesElsewhere,
} from './secrets/secret-references.ts'
import { podAttach } from './tasks/pod-attach.ts'
import { taskNames } from './tasks/task-names.ts'
import { claimTemplates } from './volumes/claim-templates.ts'
import { volumeClaims } from './volumes/volume-claims.ts'

/** The order decides which refusal is reported when several rules refuse. */
export const rules: readonly Rule[] = [
  installationWriters,
  tenantWriters,
  domainClaimWriters,
  platformKinds,
  serviceClassWriters,
  releaseWriters,
  reportWriters,
  previewApprovalWriters,
  grantApprovalWriters,
  breakGlassWriters,
  haltWriters,
  platformHalts,
  ownedWriters,
  statusWriters,
  kindFinalizers,
  applicationCommit,
  changedBy,
  requestedBy,
  reservedSecrets,
  appSecretCopies,
  secretKinds,
  secretReferences,
  secretReferencesElsewhere,
  registryReferences,
  registryReferencesElsewhere,
  operatorReferences,
  platformConfiguration,
  namespaceGuard,
  reservedMetadata,
  serviceAddresses,
  servicePorts,
  serviceProxy,
  endpointWriters,
  ingressWriters,
  ingressContent,
  podPlacement,
  podSources,
  podLabels,
  podEnd,
  disruptionBudgets,
  taskNames,
  podAttach,
  volumeClaims,
  claimTemplates,
  renderedObjects,
  applicationPods,
  accountWriters,
  buildPods,
  accountTokens,
  platformAccountTokens,
  buildConnections,
  roleWriters,
  kpackWriters,
]

/** As policies only, because the webhook cannot know what they read. */
export const policyRules: readonly PolicyRule[] = [
  podExec,
  grantedAccountTokens,
  applicationPodCommands,
  podDeletion,
  builtImages,
  podUsers,
  podRuntimeClass,
  haltPlaces,
  haltedPersons,
  haltedPersonsElsewhere,
  haltedAnswers,
  administratorsApprovals,
]

/** About our own identities; as policies only. */
export const ownRules: readonly PolicyRule[] = [ownNamespaces, ownPodDeletions, ownRoleBindings, ownWrites]
