import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api/client.ts';

const LIFETIMES = [
  { value: '1', word: '1 hour' },
  { value: '24', word: '1 day' },
  { value: '720', word: '30 days' },
  { value: '', word: 'No end' },
] as const;

/** The making of a token with which nodes join: how long it is good for, and the sending. Null is any number of uses. */
export function useEnrollmentToken(environmentId: string, maxUses: number | null = null) {
  const queryClient = useQueryClient();
  const [hours, setHours] = useState<(typeof LIFETIMES)[number]['value']>('24');
  const generate = useMutation({
    mutationFn: () =>
      api.environment.generateEnrollmentToken.mutate({
        environmentId,
        ...(hours ? { expiresInHours: Number(hours) } : {}),
        ...(maxUses === null ? {} : { maxUses }),
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['environment.get', environmentId] }),
  });
  return { generate, lifetime: { value: hours, onChange: setHours, options: LIFETIMES } };
}
