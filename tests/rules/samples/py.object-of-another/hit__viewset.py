from django.shortcuts import get_object_or_404
from rest_framework import viewsets
from rest_framework.decorators import action


class Shipments(viewsets.ModelViewSet):
    def get_queryset(self):
        return Shipment.objects.filter(sender=self.request.user)

    @action(detail=True, methods=["post"])
    def cancel(self, request, pk=None):
        shipment = self.get_object()
        shipment.cancel()

    @action(detail=True, methods=["post"])
    def redirect(self, request, pk=None):
        shipment = get_object_or_404(Shipment, pk=pk)  # HIT[high]
        shipment.save()
