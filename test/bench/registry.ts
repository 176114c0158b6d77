// All benches, in the order in which `make bench` runs them. A new bench is one line.
import { admission } from './admission/index.ts'
import { audit } from './audit/index.ts'
import { auditQuestions } from './audit-questions/index.ts'
import { authorizer } from './authorizer/index.ts'
import { buildLog } from './build-log/index.ts'
import { buildQueue } from './build-queue/index.ts'
import { commandLine } from './command-line/index.ts'
import { gitProxy } from './git-proxy/index.ts'
import { halts } from './halts/index.ts'
import type { Bench } from './harness/bench.ts'
import { inbox } from './inbox/index.ts'
import { installations } from './installations/index.ts'
import { memory } from './memory/index.ts'
import { podStart } from './pod-start/index.ts'
import { policy } from './policy/index.ts'
import { previews, previewsAtOnce, previewsAtRest, previewsCycles, previewsServices } from './previews/index.ts'
import { pushToUrl } from './push-to-url/index.ts'
import { reconcile } from './reconcile/index.ts'
import { services } from './services/index.ts'
import { servicesAtRest } from './services-at-rest/index.ts'
import { tokenEndpoint } from './token-endpoint/index.ts'
import { watch } from './watch/index.ts'

export const benches: readonly Bench[] = [
  reconcile,
  watch,
  admission,
  inbox,
  authorizer,
  audit,
  auditQuestions,
  buildLog,
  buildQueue,
  commandLine,
  gitProxy,
  halts,
  installations,
  memory,
  podStart,
  policy,
  previews,
  previewsAtOnce,
  previewsAtRest,
  previewsCycles,
  previewsServices,
  pushToUrl,
  services,
  servicesAtRest,
  tokenEndpoint,
]
