// What the admission webhook may do in the cluster: nothing. It does not call the API server (src/admission/app.ts says why).
import type { Right } from './right.ts'

export const admissionRights: readonly Right[] = []
