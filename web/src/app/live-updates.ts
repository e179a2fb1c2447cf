import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { followEvents } from '../api/events.ts';
import { queries } from '../api/queries/index.ts';
import { followPreferences } from './preferences/preference-sync.ts';

/** Keeps what is shown as it is on the server, and the person's choices as in their other browsers. */
export function useFollowing(): void {
  const queryClient = useQueryClient();
  const userId = useQuery(queries.me()).data?.id;
  useEffect(() => followEvents(queryClient), [queryClient]);
  useEffect(() => (userId ? followPreferences(userId) : undefined), [userId]);
}
