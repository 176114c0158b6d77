// What a ServiceInstance and a Bucket say alike: why it is not made of the ServiceClass that it names, and how it stands to its
// plan.
import { defineReasons } from '../reasons/reason.ts'

export const offerReasons = defineReasons({
  ready: {
    WithinPlan: 'It takes less space than its plan has.',
    NearPlan: 'It takes nearly as much space as its plan has: 80 % or more. Make room, or choose a larger plan.',
  },
  progress: {
    ClassNotReady:
      'The ServiceClass is not ready, so that its server cannot be asked. The message has its reason. What exists goes on.',
  },
  machine: {
    ServerUnreachable: 'The server does not answer. The message has the cause. The platform tries again.',
  },
  person: {
    ClassNotFound: 'There is no ServiceClass of the name in `spec.class`. The message says what to do.',
    ClassNotAllowed: 'The ServiceClass is not offered to this tenant. Choose another one, or ask a platform admin.',
    ClassOfOtherType:
      'The ServiceClass is for another kind: databases are ServiceInstances, buckets are Buckets. The message says which. Delete the object and create the other kind.',
    PlanNotFound:
      'The ServiceClass has no plan of the name in `spec.plan`, or no default plan. The message names those that it has.',
    OverPlan:
      'It takes more space than its plan has. The message says what to do, and of a ServiceInstance from when on nothing can be written any more.',
    KeptTooMany:
      'It is being deleted with `whenDeleted: Keep`, and the server or store keeps as many databases or buckets for this tenant as it may. The message has the number and what to do.',
    InUse:
      'It is being deleted, and ServiceBindings still use it. The message names them: delete them, or the Applications that own them.',
  },
  failed: {
    NoTenant: 'The namespace is not the one in which a tenant works.',
  },
})
