// All attacks, in the order in which they are reported.
import { statementAttacks } from './approvals/statements.ts'
import type { Attack } from './attack.ts'
import { bindingAttacks } from './bindings/service-bindings.ts'
import { appSecretAttacks } from './cluster/app-secrets.ts'
import { domainAttacks } from './cluster/domains.ts'
import { execAttacks } from './cluster/exec.ts'
import { kindAttacks } from './cluster/kinds.ts'
import { kubectlAttacks } from './cluster/kubectl.ts'
import { mountAttacks } from './cluster/mounts.ts'
import { nameAttacks } from './cluster/names.ts'
import { secretReadAttacks } from './cluster/read-secrets.ts'
import { readAttacks } from './cluster/reads.ts'
import { rightsAttacks } from './cluster/rights.ts'
import { serviceAttacks } from './cluster/services.ts'
import { dataServiceAttacks } from './data/data-services.ts'
import { buildAttacks } from './deputies/builds.ts'
import { builtCommitAttacks } from './deputies/built-commits.ts'
import { deputyAttacks } from './deputies/deputies.ts'
import { followedTagAttacks } from './deputies/followed-tags.ts'
import { forkAttacks } from './deputies/forks.ts'
import { grantAttacks } from './deputies/grants.ts'
import { renameAttacks } from './deputies/renames.ts'
import { drainAttacks } from './ends/drains.ts'
import { podEndAttacks } from './ends/pods.ts'
import { canaryAttacks } from './evidence/canary.ts'
import { wallAttacks } from './evidence/walls.ts'
import { floodAttacks } from './floods/floods.ts'
import { haltEffectAttacks, haltedPersonAttacks } from './halts/effects.ts'
import { haltTextAttacks } from './halts/reasons.ts'
import { recordsAttacks } from './halts/records.ts'
import { haltWriterAttacks } from './halts/writers.ts'
import { builtInRoleAttacks } from './holders/built-in-roles.ts'
import { platformReadAttacks } from './holders/platform-reads.ts'
import { deskAttacks } from './inside/desk.ts'
import { foreignImageAttacks } from './inside/foreign-images.ts'
import { gitProxyAttacks } from './inside/git-proxy.ts'
import { networkAttacks } from './inside/network.ts'
import { nodeLimitAttacks } from './inside/node-limits.ts'
import { podFieldAttacks } from './inside/pod-fields.ts'
import { registryAttacks } from './inside/registry.ts'
import { registryTokenAttacks } from './inside/registry-tokens.ts'
import { registryUploadAttacks } from './inside/registry-uploads.ts'
import { takeoverAttacks } from './logins/takeovers.ts'
import { approvalAttacks } from './outside/approvals.ts'
import { auditAttacks } from './outside/audit.ts'
import { auditorAttacks } from './outside/auditors.ts'
import { brokerAttacks } from './outside/broker.ts'
import { devicePhishingAttacks } from './outside/device-phishing.ts'
import { issuerAttacks } from './outside/issuer.ts'
import { onboardingAttacks } from './outside/onboarding.ts'
import { ownerAttacks } from './outside/owners.ts'
import { webhookReplayAttacks } from './outside/webhook-replay.ts'
import { domainRaceAttacks } from './races/domains.ts'
import { grantEndAttacks } from './races/grant-ends.ts'
import { builtTreeAttacks } from './trees/built.ts'
import { refusedTreeAttacks } from './trees/refused.ts'

export const attacks: readonly Attack[] = [
  ...grantEndAttacks,
  ...statementAttacks,
  ...refusedTreeAttacks,
  ...builtTreeAttacks,
  ...serviceAttacks,
  ...secretReadAttacks,
  ...appSecretAttacks,
  ...bindingAttacks,
  ...mountAttacks,
  ...readAttacks,
  ...kubectlAttacks,
  ...execAttacks,
  ...rightsAttacks,
  ...builtInRoleAttacks,
  ...platformReadAttacks,
  ...kindAttacks,
  ...haltWriterAttacks,
  ...haltTextAttacks,
  ...haltEffectAttacks,
  ...recordsAttacks,
  ...domainAttacks,
  ...domainRaceAttacks,
  ...nameAttacks,
  ...podEndAttacks,
  ...drainAttacks,
  ...networkAttacks,
  ...registryAttacks,
  ...registryTokenAttacks,
  ...registryUploadAttacks,
  ...podFieldAttacks,
  ...foreignImageAttacks,
  ...deskAttacks,
  ...gitProxyAttacks,
  ...nodeLimitAttacks,
  ...auditAttacks,
  ...auditorAttacks,
  ...brokerAttacks,
  ...webhookReplayAttacks,
  ...approvalAttacks,
  ...onboardingAttacks,
  ...ownerAttacks,
  ...issuerAttacks,
  ...devicePhishingAttacks,
  ...deputyAttacks,
  ...grantAttacks,
  ...followedTagAttacks,
  ...forkAttacks,
  ...renameAttacks,
  ...buildAttacks,
  ...builtCommitAttacks,
  ...takeoverAttacks,
  ...haltedPersonAttacks,
  ...dataServiceAttacks,
  ...wallAttacks,
  ...floodAttacks,
  ...canaryAttacks,
]
